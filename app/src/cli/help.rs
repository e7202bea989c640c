//! The help of the commands: headings of groups of options, notes and examples after the options.

use clap::{Arg, ArgAction, Command};
use sparsescope_core::io::file_forms::{COMPRESSED, FORMS};

// Groups of options, in the same words for every command.
pub(super) const WHAT: &str = "What to run";
pub(super) const KERNELS: &str = "Kernels";
pub(super) const SAMPLING: &str = "Sampling";
pub(super) const FORMATS: &str = "Formats";
pub(super) const SOLVER: &str = "Solver";
pub(super) const RANKS: &str = "Several GPUs and ranks";
pub(super) const OUTPUT: &str = "Output";

/// Display order of the options that every command has: after its own.
pub(super) const LAST: usize = 900;

const NO_NOTES: &str = "";

const MATRIX: &str = "\
MATRIX is a path, - for standard input, gen:KIND?key=value&... or suite:NAME.
`sparsescope info --help` lists the forms of files, `sparsescope generate --list` generators and
suites.";

const SYMGS: &str = "\
A symmetric sweep updates the rows in ascending and then in descending order. In standard mode,
the right-hand side of each update is b and x holds the newest values. In smoother mode, it is
the previous x of the row. The result is checked against two serial loops over the rows, in the
order in which the kernel visits them.

MATRIX is a path, gen:KIND?key=value&... or suite:NAME (`sparsescope generate --list` lists both).
It must be square and have no zero on its diagonal.";

const SKYLINE: &str = "\
A point dominates another if it is at least as good in every dimension and better in one. Larger
is better except where --minimize says otherwise. Equal points do not dominate each other:
duplicates are kept. The result is certified: every dropped point is dominated by a skyline point,
and no skyline point is dominated by another.

POINTS is a path, gen:points-KIND?n=...&d=... or suite:NAME (`sparsescope generate --list` lists
both). A file is text (a line with the number of dimensions, a line with the number of points,
then one point per line), CSV (.csv), this program's binary format (.points) or a NumPy array with
a row per point (.npy), optionally compressed.";

const SOLVE: &str = "\
Conjugate gradients solve A x = b for a symmetric positive definite A. The preconditioner fsai is
K = (G^T G)^-1 with a sparse lower triangular G such that G A G^T is close to the identity. Each
row of G comes from one small dense system. The reported residual is recomputed from x; the
solver's own value is not trusted.

MATRIX is a path, gen:KIND?key=value&... or suite:NAME (`sparsescope generate --list` lists both).
Files of the pattern and of G can have the same forms.";

const CONVERT: &str = "\
Every nonzero keeps its value to the last bit, and explicit zeros are kept. Matrix Market also keeps
whether values are integers or a pattern. A symmetric matrix is written whole, unless --symmetric is
given. Rutherford-Boeing files cannot hold infinity or NaN. Points are written as CSV (.csv) or in
this program's binary format (.points).";

const TRACK: &str = "\
A history is a folder of bundles. Runs are compared if they have the same matrix, kernel and
settings and were measured on the same machine. docs/track.md describes the method and a workflow.";

const TRACK_CHECK: &str = "\
A run is compared with those since its last change of level. With four or more of them, their spread
shows how much times differ between bundles for no reason; with fewer, only the samples count.
The rate of false alarms is that of the whole check (Holm's method). A result that was right in the
history and is wrong now also exits with 3.";

const MAN: &str = "\
With DIR, writes one page per command: sparsescope.1, sparsescope-bench.1 and so on. Without it,
prints the page of the program itself.";

/// The notes of each command, for `--help`, and its examples, for `-h` too.
const PAGES: [(&str, &str, &[&str]); 25] = [
    (
        "sparsescope",
        MATRIX,
        &["sparsescope bench A.mtx -o result.zip", "sparsescope view result.zip"],
    ),
    ("view", NO_NOTES, &["sparsescope view before.zip after.zip", "sparsescope view lesson.json"]),
    (
        "bench",
        MATRIX,
        &[
            "sparsescope bench A.mtx --kernels 'cpu/csr/*,cpu/hll/*' --until 1% -o result.zip",
            "sparsescope bench B.mtx --operation solve --precond jacobi,fsai --backend cpu,cuda",
        ],
    ),
    (
        "info",
        MATRIX,
        &["sparsescope info A.mtx", "sparsescope info 'gen:stencil27?n=40' --reorder rcm --json"],
    ),
    (
        "spmv",
        MATRIX,
        &[
            "sparsescope spmv A.mtx --x x.mtx -o y.mtx",
            "sparsescope spmv A.mtx --x x.mtx --kernel cpu/csr/simd --expect y.mtx --tol 1e-9",
        ],
    ),
    (
        "spmm",
        MATRIX,
        &[
            "sparsescope spmm A.mtx --x X.npy -o Y.npy",
            "sparsescope spmm A.mtx --vectors 32 --kernel cpu/spmm/hll --precision f32 -o Y.mtx",
        ],
    ),
    (
        "symgs",
        SYMGS,
        &[
            "sparsescope symgs A.mtx --b b.mtx --sweeps 10 -o x.mtx",
            "sparsescope symgs A.mtx --kernel cpu/symgs/levels --mode smoother --json",
        ],
    ),
    (
        "skyline",
        SKYLINE,
        &[
            "sparsescope skyline hotels.csv --minimize -o best.csv",
            "sparsescope skyline hotels.csv --minimize price --maximize stars --id hotel",
            "sparsescope skyline 'gen:points-anticorrelated?n=1e5&d=8' --json",
        ],
    ),
    (
        "solve",
        SOLVE,
        &[
            "sparsescope solve A.mtx --precond jacobi --tol 1e-8 --b b.mtx -o x.mtx",
            "sparsescope solve A.mtx --pattern adaptive --steps 8 --history residuals.csv",
            "sparsescope solve monday.mtx tuesday.mtx --reuse-pattern",
        ],
    ),
    (
        "generate",
        NO_NOTES,
        &[
            "sparsescope generate --list",
            "sparsescope generate 'fem-hex?n=30&dof=3' --symmetric -o A.mtx.gz",
        ],
    ),
    (
        "convert",
        CONVERT,
        &["sparsescope convert A.mtx A.npz", "sparsescope convert road.gr A.mtx.gz --symmetric"],
    ),
    (
        "fetch",
        NO_NOTES,
        &["sparsescope fetch Williams/cant", "sparsescope fetch cant pdb1HYS --folder matrices"],
    ),
    ("kernels", NO_NOTES, &["sparsescope kernels", "sparsescope kernels --device 1 --json"]),
    ("devices", NO_NOTES, &["sparsescope devices", "sparsescope devices --threads 1,8 --json"]),
    (
        "compare",
        NO_NOTES,
        &[
            "sparsescope compare before.zip after.zip --all",
            "sparsescope compare before.zip after.zip --fail-above 1.05",
        ],
    ),
    (
        "track",
        TRACK,
        &[
            "sparsescope track add result.zip --to main",
            "sparsescope track check new.zip --against main",
        ],
    ),
    (
        "add",
        NO_NOTES,
        &[
            "sparsescope track add result.zip --to main",
            "sparsescope track add nvbench.json --to histories/gpu",
        ],
    ),
    (
        "report",
        NO_NOTES,
        &[
            "sparsescope track report main -o history.html",
            "sparsescope track report main --anchor cpu/csr/serial -o history.html --force",
        ],
    ),
    (
        "check",
        TRACK_CHECK,
        &[
            "sparsescope track check result.zip --against main",
            "sparsescope track check result.zip --against main --anchor cpu/csr/serial --markdown -",
        ],
    ),
    ("board", NO_NOTES, &["sparsescope board results", "sparsescope board results --force"]),
    (
        "merge",
        NO_NOTES,
        &[
            "sparsescope merge part-1.zip part-2.zip -o all.zip",
            "sparsescope merge result.zip nvbench.json -o both.zip --label V100",
        ],
    ),
    (
        "export",
        NO_NOTES,
        &[
            "sparsescope export result.zip --html result.html",
            "sparsescope export result.zip --chart roofline --svg roofline.svg",
            "sparsescope export result.zip --chart roofline --pdf roofline.pdf --width-mm 85",
        ],
    ),
    (
        "serve",
        NO_NOTES,
        &["sparsescope serve result.zip", "sparsescope serve result.zip lesson.json --port 8000"],
    ),
    (
        "completions",
        NO_NOTES,
        &[
            "sparsescope completions zsh > ~/.zfunc/_sparsescope",
            "sparsescope completions fish > ~/.config/fish/completions/sparsescope.fish",
        ],
    ),
    ("man", MAN, &["sparsescope man ~/.local/share/man/man1", "sparsescope man | man -l -"]),
];

/// Adds what the declarations of the commands cannot express: `--help` and `--version` at the end, each default in
/// the line of its option, and the notes and examples of each command.
pub(super) fn arranged(program: Command) -> Command {
    let flag = |name: &'static str, short: char| {
        Arg::new(name).long(name).short(short).help_heading(OUTPUT).display_order(LAST + 1)
    };
    let help = flag("help", 'h')
        .action(ArgAction::Help)
        .global(true)
        .help("Print help: -h lists the main options, --help describes all");
    let version = flag("version", 'V').action(ArgAction::Version).help("Print the version");
    let program = program.disable_help_flag(true).disable_version_flag(true);
    page(program.arg(help).arg(version))
}

/// The command and all below it.
pub(super) fn with_subcommands(command: &Command) -> Vec<&Command> {
    let below = command.get_subcommands().flat_map(with_subcommands);
    std::iter::once(command).chain(below).collect()
}

fn page(command: Command) -> Command {
    let command = command.mut_args(with_default_in_line).mut_subcommands(page);
    let own = PAGES.iter().find(|(name, ..)| *name == command.get_name());
    let Some((name, notes, examples)) = own else { return command };
    let examples = format!("Examples:\n  {}", examples.join("\n  "));
    let forms = if ["info", "convert"].contains(name) { forms() } else { String::new() };
    let parts = [*notes, &forms, &examples].into_iter().filter(|part| !part.is_empty());
    let long = parts.collect::<Vec<_>>().join("\n\n");
    command.after_help(examples).after_long_help(long)
}

/// The forms of files that hold a matrix, one per line.
fn forms() -> String {
    let lines = FORMS.map(|form| {
        let name = format!("{}{}", form.name, if form.is_written { "*" } else { "" });
        format!("\n  {name:<20} {:<26} {}", dotted(form.extensions, " "), form.read)
    });
    format!(
        "Forms of files (* can also be written; all are read compressed, too: {}):{}",
        dotted(&COMPRESSED, ", "),
        lines.concat()
    )
}

fn dotted(extensions: &[&str], between: &str) -> String {
    let dotted: Vec<String> = extensions.iter().map(|end| format!(".{end}")).collect();
    dotted.join(between)
}

/// Puts an argument's default at the end of its summary, where the help itself says what happens by default. The
/// summary of `-h` becomes part of `--help` and of the man page also if `-h` does not list the argument.
fn with_default_in_line(arg: Arg) -> Arg {
    let Some(short) = arg.get_help().map(ToString::to_string) else { return arg };
    let long = arg.get_long_help().map_or_else(|| short.clone(), ToString::to_string);
    let values = arg.get_default_values().iter();
    let values: Vec<String> = values.map(|value| value.to_string_lossy().into_owned()).collect();
    let default = match values.is_empty() || arg.is_hide_default_value_set() {
        true => String::new(),
        false => format!(" [default: {}]", values.join(",")),
    };
    let (first, more) = long.split_once("\n\n").unwrap_or((long.as_str(), ""));
    let long = format!("{first}{default}\n\n{more}");
    arg.help(format!("{short}{default}"))
        .long_help(long.trim_end().to_owned())
        .hide_default_value(!values.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_forms_fits_into_a_terminal() {
        let forms = forms();
        assert_eq!(forms.lines().count(), 1 + FORMS.len());
        for line in forms.lines() {
            assert!(line.len() <= 100, "{line}");
        }
        assert!(forms.contains("\n  Matrix Market*       .mtx   "), "{forms}");
    }

    #[test]
    fn a_default_ends_the_help_of_its_option() {
        let arg = Arg::new("runs").long("runs").help("Samples").default_values(["1", "2"]);
        let arg = with_default_in_line(arg);
        assert_eq!(arg.get_help().map(ToString::to_string), Some("Samples [default: 1,2]".into()));
        assert!(arg.is_hide_default_value_set());
        let arg =
            Arg::new("x").long("x").help("An x").long_help("An x\n\nMore.").default_value("1");
        let long = with_default_in_line(arg).get_long_help().map(ToString::to_string);
        assert_eq!(long, Some("An x [default: 1]\n\nMore.".into()));
    }
}
