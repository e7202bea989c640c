//! The process that runs a library: reads commands, one per line, and answers each with a line.

use std::fs::File;
use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use super::abi::{Kernel, Loaded};
use super::area::{Area, Places};

/// The first argument of such a process, before the library, the file of the shared memory and a token.
pub const HOST: &str = "host-kernel-library";

/// Runs `library` for the process that sends `commands`, with arrays in the file `area`. Each reply begins with
/// `token`, because the library may print, too. Returns the exit code.
pub fn host(
    [library, area]: [&Path; 2],
    token: &str,
    commands: impl BufRead,
    mut replies: impl Write,
) -> u8 {
    let mut reply = |text: &str| {
        // In one piece, on a line of its own.
        let line = format!("\n{token}{text}\n");
        replies.write_all(line.as_bytes()).and_then(|()| replies.flush()).is_ok()
    };
    let library = match Loaded::open(library) {
        Ok(library) => library,
        Err(why) => {
            reply(&format!("failed cannot load it: {why}"));
            return 1;
        }
    };
    if !reply(&format!("ready {}\t{}", library.name, library.description)) {
        return 1;
    }
    let mut kernel = None;
    for line in commands.lines() {
        let Ok(line) = line else { return 1 };
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match words[..] {
            ["prepare", rows, cols, nonzeros, threads] => {
                prepare(&library, area, [rows, cols, nonzeros, threads]).map(|(made, seconds)| {
                    kernel = Some(made);
                    format!("prepared {seconds}")
                })
            }
            ["run", warm, repetitions] => match &kernel {
                Some(kernel) => run(kernel, warm, repetitions),
                None => Err("it is not prepared".to_owned()),
            },
            _ => Err("the command is unknown".to_owned()),
        };
        if !reply(&answer.unwrap_or_else(|why| format!("failed {why}"))) {
            return 1;
        }
    }
    0
}

/// Prepares the library for the matrix in the shared memory; also returns the seconds that this took.
fn prepare<'l>(
    library: &'l Loaded,
    file: &Path,
    sizes: [&str; 4],
) -> Result<(Kernel<'l>, f64), String> {
    let [rows, cols, nonzeros, threads] = sizes.map(|size| size.parse::<usize>().ok());
    let (Some(rows), Some(cols), Some(nonzeros), Some(threads)) = (rows, cols, nonzeros, threads)
    else {
        return Err("a size is no number".to_owned());
    };
    let places = Places::of(rows, cols, nonzeros).ok_or("the sizes are too large")?;
    let file = File::options().read(true).write(true).open(file);
    let area = file.and_then(|file| Area::of(&file, places)).map_err(|error| error.to_string())?;
    let start = Instant::now();
    let made = Kernel::prepare(library, area, threads as u32);
    let seconds = start.elapsed().as_secs_f64();
    made.map(|made| (made, seconds)).map_err(|code| format!("refused {code}"))
}

/// Executes the kernel `warm` times, then `repetitions` times, and keeps y at once: whatever the library writes
/// later is too late. Replies with the seconds of one timed execution, and of everything.
fn run(kernel: &Kernel<'_>, warm: &str, repetitions: &str) -> Result<String, String> {
    let number = |text: &str| text.parse::<u32>().map_err(|_| "a number is none".to_owned());
    let (warm, repetitions) = (number(warm)?, number(repetitions)?);
    let failed = |code| format!("sparsescope_apply returned {code}");
    let begin = Instant::now();
    for _ in 0..warm {
        kernel.apply().map_err(failed)?;
    }
    let start = Instant::now();
    for _ in 0..repetitions {
        kernel.apply().map_err(failed)?;
    }
    let seconds = start.elapsed().as_secs_f64() / f64::from(repetitions.max(1));
    kernel.area.keep_result();
    Ok(format!("ran {seconds} {}", begin.elapsed().as_secs_f64()))
}
