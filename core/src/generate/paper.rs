//! The matrices of the papers, as stand-ins.
//!
//! Rows, entries and the longest rows that matter are those of the published matrices. Average
//! deviations are those that the papers print, or those of the real file; what neither says is left
//! open, and the recipe's choice follows the kind of structure. Stand-ins are not symmetric where
//! the real matrices are: every row is made on its own.

use super::suite::{SuiteEntry, Wanted};

const fn square(rows: u64, nnz: u64) -> Wanted {
    let (max, percent_average_deviation, bandwidth) = (None, None, None);
    Wanted { rows, cols: rows, nnz, max, percent_average_deviation, bandwidth }
}

const fn max(wanted: Wanted, max: u64) -> Wanted {
    Wanted { max: Some(max), ..wanted }
}

/// Average deviation of the row lengths in percent of their mean.
const fn deviation(wanted: Wanted, percent: f64) -> Wanted {
    Wanted { percent_average_deviation: Some(percent), ..wanted }
}

const fn band(wanted: Wanted, bandwidth: u64) -> Wanted {
    Wanted { bandwidth: Some(bandwidth), ..wanted }
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
    entry("cage4", band(deviation(max(square(9, 49), 6), 9.07), 7),
        "shaped?m=9&nnz=49&min=5&max=6&dev=907&half=7&scatter=500&seed=3",
        "DNA electrophoresis, nearly full"),
    entry("mhda416", band(deviation(max(square(416, 8562), 33), 24.7), 29),
        "shaped?m=416&nnz=8562&min=1&max=33&dev=2470&dof=16&half=29&run=2",
        "magnetohydrodynamics, a chain of dense blocks"),
    entry("mcfe", square(765, 24_382),
        "shaped?m=765&nnz=24382&min=17&max=81&dev=2500&dof=9&nx=9&half=187",
        "astrophysics, blocks on a narrow strip"),
    entry("olm1000", band(deviation(max(square(1000, 3996), 6), 49.9), 3),
        "shaped?m=1000&nnz=3996&min=2&max=6&dev=4990&half=3",
        "a flow in one dimension, three diagonals on either side"),
    entry("adder_dcop_32", square(1813, 11_246),
        "circuit?m=1813&nnz=11350&dense=1332",
        "a circuit with one node that most others touch"),
    entry("west2021", square(2021, 7310),
        "shaped?m=2021&nnz=7310&min=1&max=12&dev=4500&scatter=600",
        "a chemical plant, short rows with far couplings"),
    entry("cavity10", square(2597, 76_171),
        "shaped?m=2597&nnz=76171&min=8&max=62&dev=4150&dof=3&nx=41&half=252&run=24",
        "a driven cavity, finite elements in two dimensions"),
    entry("rdist2", square(3198, 56_834),
        "shaped?m=3198&nnz=56834&min=1&max=61&dev=5500&dof=9&half=320&scatter=60&run=3",
        "a distillation column, stages of blocks"),
    entry("cant", deviation(square(62_451, 4_007_383), 20.2),
        "shaped?m=62451&nnz=4007383&min=1&max=78&dev=2020&dof=3&nx=9&ny=9&half=275&run=27",
        "a cantilever of solid elements, three unknowns a node"),
    entry("olafu", square(16_146, 1_015_156),
        "shaped?m=16146&nnz=1015156&min=24&max=89&dev=1900&dof=6&nx=45&run=24",
        "a structure of shell elements, six unknowns a node"),
    entry("Cube_Coup_dt0", square(2_164_760, 127_206_144),
        "shaped?m=2164760&nnz=127206144&min=24&max=68&dev=600&dof=4&nx=81&ny=81&run=64",
        "a cube, mechanics coupled with flow, four unknowns a node"),
    entry("ML_Laplace", deviation(max(square(377_002, 27_689_972), 74), 1.45),
        "shaped?m=377002&nnz=27689972&min=26&max=74&dev=145&dof=2&nx=434&run=20",
        "a meshless method in two dimensions, rows of nearly the same length"),
    entry("bcsstk17", square(10_974, 428_650),
        "shaped?m=10974&nnz=428650&min=1&max=150&dev=3000&dof=6&nx=42&half=521&run=12",
        "a pressure vessel, six unknowns a node"),
    entry("mac_econ_fwd500", square(206_500, 1_273_389),
        "shaped?m=206500&nnz=1273389&min=1&max=44&dev=6000&half=20000&scatter=350&run=5",
        "an economic model, unsymmetric"),
    entry("mhd4800a", band(deviation(max(square(4800, 102_252), 33), 21.5), 29),
        "shaped?m=4800&nnz=102252&min=1&max=33&dev=2150&dof=16&half=29&run=2",
        "magnetohydrodynamics, a chain of dense blocks"),
    entry("cop20k_A", square(121_192, 2_624_331),
        "shaped?m=121192&nnz=2624331&min=0&max=81&dev=5500&nx=49&ny=49&scatter=300&run=9",
        "a particle accelerator's cavity, elements numbered far apart"),
    entry("raefsky2", square(3242, 293_551),
        "shaped?m=3242&nnz=293551&min=34&max=108&dev=1500&dof=3&nx=9&ny=9&run=12",
        "an incompressible flow in three dimensions"),
    entry("af23560", square(23_560, 460_598),
        "shaped?m=23560&nnz=460598&min=10&max=21&dev=400&dof=4&nx=75&run=40",
        "an airfoil, stability of a compressible flow, four unknowns a node"),
    entry("lung2", square(109_460, 492_564),
        "shaped?m=109460&nnz=492564&min=2&max=8&dev=3300&dof=2&nx=18",
        "transport in a lung, pairs of equations"),
    entry("PR02R", square(161_070, 8_185_136),
        "shaped?m=161070&nnz=8185136&min=1&max=92&dev=2600&dof=7&nx=160&run=14",
        "a turbulent flow in two dimensions, seven unknowns a cell"),
    entry("FEM_3D_thermal1", square(17_880, 430_740),
        "shaped?m=17880&nnz=430740&min=8&max=27&dev=1500&nx=26&ny=26&run=26",
        "heat in a solid, hexahedra"),
    entry("thermal1", square(82_654, 574_458),
        "shaped?m=82654&nnz=574458&min=1&max=11&dev=1100&nx=288&scatter=300",
        "heat in two dimensions, an unstructured mesh"),
    entry("thermal2", max(square(1_228_045, 8_580_313), 11),
        "shaped?m=1228045&nnz=8580313&min=1&max=11&dev=1100&nx=1108&scatter=300",
        "the same, finer"),
    entry("thermomech_TK", square(102_158, 711_558),
        "shaped?m=102158&nnz=711558&min=3&max=10&dev=900&nx=320&scatter=500",
        "heat and mechanics, an unstructured mesh"),
    entry("nlpkkt80", max(square(1_062_400, 28_192_672), 28),
        "kkt?n=80",
        "a control problem on a grid, a saddle point"),
    entry("webbase-1M", deviation(max(square(1_000_005, 3_105_536), 4700), 60.12),
        "powerlaw?m=1000005&nnz=3105536&max=4700&min=1&dev=6012&near=16",
        "a web, few pages with very many links"),
    entry("dc1", max(square(116_835, 766_396), 114_190),
        "circuit?m=116835&nnz=766396&dense=114190",
        "a circuit with one node that nearly all others touch"),
    entry("amazon0302", max(square(262_111, 1_234_877), 5),
        "powerlaw?m=262111&nnz=1234877&max=5&min=0&dev=1150&near=64",
        "what is bought together, at most five links a page"),
    entry("af_1_k101", square(503_625, 17_550_675),
        "shaped?m=503625&nnz=17550675&min=15&max=35&dev=85&dof=5&nx=317&run=25",
        "a sheet in forming, shell elements, five unknowns a node"),
    entry("roadNet-PA", max(square(1_090_920, 3_083_796), 9),
        "road?m=1090920&max=9",
        "the roads of Pennsylvania"),
];

/// The systems of the thesis on conjugate gradients with FSAI. None is diagonally dominant. With
/// the pattern of the lower triangle and the tolerance 1e-10 the thesis counts 583, 772 and 634
/// iterations; the shifts are chosen so that the stand-ins need about as many: 582, 725 and 642 with
/// a right-hand side of ones, and 1503, 1849 and 1594 with Jacobi's preconditioner.
#[rustfmt::skip]
pub(super) static SOLVER: &[SuiteEntry] = &[
    entry("Cubo_4", square(190_581, 7_531_389),
        "fem-tet?nx=113&ny=113&nz=5&dof=3&m=190581&decades=4&shift=190",
        "elasticity of a slab, stiffness over four decades"),
    entry("Emilia_grande", square(923_136, 41_005_206),
        "fem-tet?nx=68&ny=68&nz=67&dof=3&m=923136&decades=4&shift=110",
        "elasticity of a block of ground, stiffness over four decades"),
    entry("StocF-1465", square(1_465_137, 21_005_389),
        "fem-tet?nx=336&ny=336&nz=13&m=1465137&decades=4&shift=137",
        "flow through layers that conduct along one direction, permeability over four decades"),
];
