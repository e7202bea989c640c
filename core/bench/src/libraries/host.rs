//! The process that runs a library: reads commands, one per line, and answers each with a line.

use std::fs::File;
use std::io::{BufRead, Write};
use std::path::Path;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::abi::{Kernel, Loaded};
use super::area::{Area, Places};
use super::gpu::OpenGpu;
use sparsescope_matrix::files::exit;
use sparsescope_model::kernel::DeviceKind;

/// The first argument of such a process, before the library, the file of the shared memory and a token.
pub const HOST: &str = "host-kernel-library";

/// How long a library may go on after the process that measures it has ended.
const TO_END: Duration = Duration::from_secs(1);

/// Runs `library` for the process that sends `commands`, with arrays in the file `area`. Each reply begins with
/// `token`, because the library may print, too. A library for CUDA uses the GPU that `open_gpu` opens. Returns the
/// exit code; once there are no more commands, the process ends, whatever the library is doing.
pub fn host(
    [library, area]: [&Path; 2],
    token: &str,
    open_gpu: OpenGpu,
    commands: impl BufRead + Send + 'static,
    mut replies: impl Write,
) -> u8 {
    // If memory runs out, this process has to end, not the one that measures.
    #[cfg(target_os = "linux")]
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let (sender, lines) = mpsc::channel();
    let reader = std::thread::Builder::new().spawn(move || {
        for line in commands.lines().map_while(Result::ok) {
            if sender.send(line).is_err() {
                return;
            }
        }
        drop(sender);
        std::thread::sleep(TO_END);
        exit(1);
    });
    let mut reply = |text: &str| {
        // In one piece, on a line of its own.
        let line = format!("\n{token}{text}\n");
        replies.write_all(line.as_bytes()).and_then(|()| replies.flush()).is_ok()
    };
    let library =
        match reader.map_err(|error| error.to_string()).and_then(|_| Loaded::open(library)) {
            Ok(library) => library,
            Err(why) => {
                reply(&format!("failed cannot load it: {why}"));
                return 1;
            }
        };
    let device = library.device.as_str();
    let operation = library.operation.as_str();
    let described = format!("{}\t{}", library.name, library.description);
    if !reply(&format!("ready {device}\t{operation}\t{described}")) {
        return 1;
    }
    let mut kernel = None;
    for line in lines {
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match words[..] {
            ["prepare", rows, cols, nonzeros, of_x, of_y, threads, gpu, tolerance, most] => {
                let numbers = [rows, cols, nonzeros, of_x, of_y, threads, gpu];
                let goal = [tolerance, most];
                prepare(&library, area, numbers, goal, open_gpu).map(|(made, seconds)| {
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

/// Prepares the library for the matrix in the shared memory; also returns the seconds that this took. What the
/// library or the GPU refuses is marked as refused. `goal` is the tolerance and the maximum number of iterations of a
/// solve.
fn prepare<'l>(
    library: &'l Loaded,
    file: &Path,
    numbers: [&str; 7],
    goal: [&str; 2],
    open_gpu: OpenGpu,
) -> Result<(Kernel<'l>, f64), String> {
    let numbers: Option<Vec<usize>> = numbers.iter().map(|number| number.parse().ok()).collect();
    let Some(&[rows, cols, nonzeros, of_x, of_y, threads, gpu]) = numbers.as_deref() else {
        return Err("a size is no number".to_owned());
    };
    let [tolerance, most] = goal;
    let (Ok(tolerance), Ok(most)) = (tolerance.parse::<f64>(), most.parse::<u64>()) else {
        return Err("a number is none".to_owned());
    };
    let places = Places::of([rows, cols, nonzeros], [of_x, of_y]);
    let places = places.ok_or("the sizes are too large")?;
    let file = File::options().read(true).write(true).open(file);
    let area = file.and_then(|file| Area::of(&file, places)).map_err(|error| error.to_string())?;
    let refused = |why: String| format!("refused {why}");
    let mut gpu = match library.device {
        DeviceKind::Cuda => Some(open_gpu(gpu).map_err(refused)?),
        _ => None,
    };
    let arrays = match &mut gpu {
        Some(gpu) => area.on_gpu(&mut **gpu).map_err(refused)?,
        None => area.pointers(),
    };
    let start = Instant::now();
    let made = Kernel::prepare(library, arrays, (area, gpu), threads as u32, (tolerance, most));
    let made = made.map_err(|code| format!("refused sparsescope_prepare returned {code}"))?;
    if let Some(gpu) = &made.gpu {
        gpu.synchronize()?;
    }
    Ok((made, start.elapsed().as_secs_f64()))
}

/// Executes the kernel `warm` times, then `repetitions` times, and keeps y at once: whatever the library writes
/// later is too late. Replies with the seconds of one timed execution, and of everything, and with the iterations of a
/// solve and whether it converged; for a GPU also with the seconds of the stream and those that passed meanwhile.
fn run(kernel: &Kernel<'_>, warm: &str, repetitions: &str) -> Result<String, String> {
    let number = |text: &str| text.parse::<u32>().map_err(|_| "a number is none".to_owned());
    let (warm, repetitions) = (number(warm)?, number(repetitions)?);
    let begin = Instant::now();
    let (seconds, of_gpu) = match &kernel.gpu {
        None => {
            kernel.apply(warm)?;
            let start = Instant::now();
            kernel.apply(repetitions)?;
            (start.elapsed().as_secs_f64(), String::new())
        }
        Some(gpu) => {
            let (warm_up, timed) = (|| kernel.apply(warm), || kernel.apply(repetitions));
            // SAFETY: the GPU's vectors have the size of those in the area. The other process waits for this one.
            let times = unsafe { gpu.run(kernel.area.vectors(), &warm_up, &timed) }?;
            (times.timed, format!(" {} {}", times.stream, times.passed))
        }
    };
    kernel.area.keep_result();
    let seconds = seconds / f64::from(repetitions.max(1));
    let (all, (iterations, converged)) = (begin.elapsed().as_secs_f64(), kernel.solved.get());
    Ok(format!("ran {seconds} {all} {iterations} {}{of_gpu}", u8::from(converged)))
}
