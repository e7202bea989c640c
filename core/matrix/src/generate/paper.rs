//! The matrices of the papers, as stand-ins.
//!
//! Rows and nonzeros are those of the published matrices. Other figures are known where the papers
//! print them or the real file was available (cage4, mhda416, olm1000, mhd4800a). The longest rows
//! of cant, cop20k_A, mac_econ_fwd500 and PR02R are those of the real files as listed for the
//! artificial matrix generator of Mpakos et al. (Feature-based SpMV performance analysis, IPDPS
//! 2023). All other figures are guesses from the kind of structure and are marked as such. Stand-ins
//! of symmetric matrices are exactly symmetric; those of the two circuits are too, though the real
//! ones are not.

use super::suite::Figure::{self, Guessed, Known};
use super::suite::{SuiteEntry, Wanted};

const fn square(rows: u64, nnz: u64) -> Wanted {
    let (max, percent_average_deviation, bandwidth) = (None, None, None);
    let symmetric = false;
    Wanted { rows, cols: rows, nnz, symmetric, max, percent_average_deviation, bandwidth }
}

impl Wanted {
    const fn symmetric(self) -> Self {
        Self { symmetric: true, ..self }
    }

    const fn max(self, max: Figure<u64>) -> Self {
        Self { max: Some(max), ..self }
    }

    const fn deviation(self, percent: Figure<f64>) -> Self {
        Self { percent_average_deviation: Some(percent), ..self }
    }

    const fn band(self, bandwidth: Figure<u64>) -> Self {
        Self { bandwidth: Some(bandwidth), ..self }
    }
}

const fn entry(
    name: &'static str,
    wanted: Wanted,
    spec: &'static str,
    what: &'static str,
) -> SuiteEntry {
    SuiteEntry { name, spec, what, wanted: Some(wanted) }
}

#[rustfmt::skip]
pub(super) static PAPER: &[SuiteEntry] = &[
    entry("cage4", square(9, 49).max(Known(6)).deviation(Known(9.07)).band(Known(7)),
        "shaped?m=9&nnz=49&min=5&max=6&dev=907&half=7&scatter=500&seed=3",
        "DNA electrophoresis, nearly full"),
    entry("mhda416", square(416, 8562).max(Known(33)).deviation(Known(24.7)).band(Known(29)),
        "shaped?m=416&nnz=8562&min=1&max=33&dev=2470&dof=16&half=29&run=2",
        "magnetohydrodynamics, a chain of dense blocks"),
    entry("mcfe", square(765, 24_382).max(Guessed(81)).deviation(Guessed(25.0)),
        "shaped?m=765&nnz=24382&min=17&max=81&dev=2500&dof=9&nx=9&half=187",
        "astrophysics, blocks in a narrow band"),
    entry("olm1000", square(1000, 3996).max(Known(6)).deviation(Known(49.9)).band(Known(3)),
        "shaped?m=1000&nnz=3996&min=2&max=6&dev=4990&half=3",
        "one-dimensional flow, three diagonals on each side"),
    entry("adder_dcop_32", square(1813, 11_246).max(Guessed(1332)),
        "circuit?m=1813&nnz=11350&dense=1332",
        "a circuit with one node connected to most others"),
    entry("west2021", square(2021, 7310).max(Guessed(12)).deviation(Guessed(45.0)),
        "shaped?m=2021&nnz=7310&min=1&max=12&dev=4500&scatter=600",
        "a chemical plant, short rows with distant couplings"),
    entry("cavity10", square(2597, 76_171).max(Guessed(62)).deviation(Guessed(41.5)).band(Guessed(252)),
        "shaped?m=2597&nnz=76171&min=8&max=62&dev=4150&dof=3&nx=41&half=252&run=24",
        "a driven cavity, 2-D finite elements"),
    entry("rdist2", square(3198, 56_834).max(Guessed(61)).deviation(Guessed(55.0)).band(Guessed(320)),
        "shaped?m=3198&nnz=56834&min=1&max=61&dev=5500&dof=9&half=320&scatter=60&run=3",
        "a distillation column, stages of blocks"),
    entry("cant", square(62_451, 4_007_383).symmetric().max(Known(78)).deviation(Known(20.2)).band(Guessed(275)),
        "shaped?m=62451&nnz=4007383&min=1&max=78&dev=2020&dof=3&nx=9&ny=9&half=275&run=27&sym=1",
        "a cantilever of solid elements, three unknowns per node"),
    entry("olafu", square(16_146, 1_015_156).symmetric().max(Guessed(90)).deviation(Guessed(19.0)),
        "shaped?m=16146&nnz=1015156&min=24&max=90&dev=1900&dof=6&nx=45&run=24&sym=1",
        "a structure of shell elements, six unknowns per node"),
    entry("Cube_Coup_dt0", square(2_164_760, 127_206_144).symmetric().max(Guessed(68)).deviation(Guessed(6.0)),
        "shaped?m=2164760&nnz=127206144&min=24&max=68&dev=600&dof=4&nx=81&ny=81&run=64&sym=1",
        "a cube, mechanics coupled with flow, four unknowns per node"),
    entry("ML_Laplace", square(377_002, 27_689_972).max(Known(74)).deviation(Known(1.45)),
        "shaped?m=377002&nnz=27689972&min=26&max=74&dev=145&dof=2&nx=434&run=20",
        "a 2-D meshless method, nearly uniform row lengths"),
    entry("bcsstk17", square(10_974, 428_650).symmetric().max(Guessed(150)).deviation(Guessed(30.0)).band(Guessed(521)),
        "shaped?m=10974&nnz=428650&min=1&max=150&dev=3000&dof=6&nx=43&half=521&run=12&sym=1",
        "a pressure vessel, six unknowns per node"),
    entry("mac_econ_fwd500", square(206_500, 1_273_389).max(Known(44)).deviation(Guessed(60.0)).band(Guessed(20_000)),
        "shaped?m=206500&nnz=1273389&min=1&max=44&dev=6000&half=20000&scatter=350&run=5",
        "an economic model, unsymmetric"),
    entry("mhd4800a", square(4800, 102_252).max(Known(33)).deviation(Known(21.5)).band(Known(29)),
        "shaped?m=4800&nnz=102252&min=1&max=33&dev=2150&dof=16&half=29&run=2",
        "magnetohydrodynamics, a chain of dense blocks"),
    entry("cop20k_A", square(121_192, 2_624_331).symmetric().max(Known(81)).deviation(Guessed(55.0)).band(Guessed(121_191)),
        "shaped?m=121192&nnz=2624331&min=0&max=81&dev=5500&nx=49&ny=49&scatter=300&run=9&sym=1",
        "a particle accelerator cavity, neighbours numbered far apart"),
    entry("raefsky2", square(3242, 293_551).max(Guessed(108)).deviation(Guessed(15.0)),
        "shaped?m=3242&nnz=293551&min=34&max=108&dev=1500&dof=3&nx=9&ny=9&run=12",
        "3-D incompressible flow"),
    entry("af23560", square(23_560, 460_598).max(Guessed(21)).deviation(Guessed(4.0)),
        "shaped?m=23560&nnz=460598&min=10&max=21&dev=400&dof=4&nx=75&run=40",
        "stability of compressible flow around an airfoil, four unknowns per node"),
    entry("lung2", square(109_460, 492_564).max(Guessed(8)).deviation(Guessed(33.0)),
        "shaped?m=109460&nnz=492564&min=2&max=8&dev=3300&dof=2&nx=18",
        "transport in a lung, pairs of equations"),
    entry("PR02R", square(161_070, 8_185_136).max(Known(92)).deviation(Guessed(26.0)),
        "shaped?m=161070&nnz=8185136&min=1&max=92&dev=2600&dof=7&nx=160&run=14",
        "2-D turbulent flow, seven unknowns per cell"),
    entry("FEM_3D_thermal1", square(17_880, 430_740).max(Guessed(27)).deviation(Guessed(15.0)),
        "shaped?m=17880&nnz=430740&min=8&max=27&dev=1500&nx=26&ny=26&run=26",
        "heat conduction in a solid, hexahedra"),
    entry("thermal1", square(82_654, 574_458).symmetric().max(Guessed(11)).deviation(Guessed(11.0)),
        "shaped?m=82654&nnz=574458&min=1&max=11&dev=1100&nx=288&scatter=300&sym=1",
        "2-D heat conduction, unstructured mesh"),
    entry("thermal2", square(1_228_045, 8_580_313).symmetric().max(Known(11)).deviation(Guessed(11.0)),
        "shaped?m=1228045&nnz=8580313&min=1&max=11&dev=1100&nx=1108&scatter=300&sym=1",
        "the same on a finer mesh"),
    entry("thermomech_TK", square(102_158, 711_558).symmetric().max(Guessed(10)).deviation(Guessed(9.0)),
        "shaped?m=102158&nnz=711558&min=3&max=10&dev=900&nx=320&scatter=500&sym=1",
        "thermomechanics, unstructured mesh"),
    entry("nlpkkt80", square(1_062_400, 28_192_672).symmetric().max(Known(28)),
        "kkt?n=80",
        "a control problem on a grid, saddle-point matrix"),
    entry("webbase-1M", square(1_000_005, 3_105_536).max(Known(4700)).deviation(Known(60.12)),
        "powerlaw?m=1000005&nnz=3105536&max=4700&min=1&dev=6012&near=16",
        "a web graph, few pages with very many links"),
    entry("dc1", square(116_835, 766_396).max(Known(114_190)),
        "circuit?m=116835&nnz=766396&dense=114190",
        "a circuit with one node connected to nearly all others"),
    entry("amazon0302", square(262_111, 1_234_877).max(Known(5)).deviation(Guessed(11.5)),
        "powerlaw?m=262111&nnz=1234877&max=5&min=0&dev=1150&near=64",
        "products bought together, at most five links per page"),
    entry("af_1_k101", square(503_625, 17_550_675).symmetric().max(Guessed(35)).deviation(Guessed(0.85)).band(Guessed(1594)),
        "shaped?m=503625&nnz=17550675&min=15&max=35&dev=85&dof=5&nx=317&run=25&half=1594&sym=1",
        "sheet metal forming, shell elements, five unknowns per node"),
    entry("roadNet-PA", square(1_090_920, 3_083_796).symmetric().max(Known(9)),
        "road?m=1090920&max=9",
        "the road network of Pennsylvania"),
];

/// The systems of the thesis on conjugate gradients with FSAI. None is diagonally dominant. With the
/// pattern of the lower triangle and the tolerance 1e-10 the thesis reports 583, 772 and 634
/// iterations; the shifts are chosen so that the stand-ins need about as many: 582, 725 and 642 with
/// a right-hand side of ones, and 1503, 1849 and 1594 with Jacobi's preconditioner.
#[rustfmt::skip]
pub(super) static SOLVER: &[SuiteEntry] = &[
    entry("Cubo_4", square(190_581, 7_531_389).symmetric(),
        "fem-tet?nx=113&ny=113&nz=5&dof=3&m=190581&decades=4&shift=190",
        "elasticity of a slab, stiffness varying over four decades"),
    entry("Emilia_grande", square(923_136, 41_005_206).symmetric(),
        "fem-tet?nx=68&ny=68&nz=67&dof=3&m=923136&decades=4&shift=110",
        "elasticity of a block of soil, stiffness varying over four decades"),
    entry("StocF-1465", square(1_465_137, 21_005_389).symmetric(),
        "fem-tet?nx=336&ny=336&nz=13&m=1465137&decades=4&shift=137",
        "flow through anisotropic layers, permeability varying over four decades"),
];
