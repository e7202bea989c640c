//! A job array on a real Slurm cluster whose one node is this machine.

use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sparsescope_core::record::Shard;
use sparsescope_test_support::{Need, skip};
use sparsescope_tests::Program;

use crate::common::{open, program};

/// The daemons of a cluster of one node, stopped when dropped.
struct Slurm {
    folder: PathBuf,
    daemons: Vec<Child>,
}

impl Slurm {
    /// Starts them in `folder`, or says why they cannot be started.
    fn start(folder: &Path) -> Result<Self, String> {
        for daemon in ["munged", "slurmctld", "slurmd", "sbatch"] {
            let found = Command::new("sh").args(["-c", "command -v \"$0\"", daemon]).output();
            if !found.is_ok_and(|found| found.status.success()) {
                return Err(format!("there is no {daemon}"));
            }
        }
        let mut slurm = Self { folder: folder.to_owned(), daemons: Vec::new() };
        for made in ["spool", "state"] {
            std::fs::create_dir_all(folder.join(made)).map_err(|error| error.to_string())?;
        }
        let at = |name: &str| folder.join(name).display().to_string();
        let key: Vec<u8> = (0..=255).cycle().take(1024).collect();
        std::fs::write(folder.join("munge.key"), key).map_err(|error| error.to_string())?;
        private(&folder.join("munge.key"))?;
        std::fs::write(folder.join("slurm.conf"), configuration(folder)?)
            .map_err(|error| error.to_string())?;
        let files =
            [("key-file", "munge.key"), ("socket", "munge.socket"), ("pid-file", "munge.pid")];
        let more = [("log-file", "munge.log"), ("seed-file", "munge.seed")];
        let mut munged = Command::new("munged");
        munged.args(["--foreground", "--force"]);
        for (option, name) in files.into_iter().chain(more) {
            munged.arg(format!("--{option}={}", at(name)));
        }
        slurm.spawn(munged)?;
        slurm.wait_for("munge", |_| folder.join("munge.socket").exists())?;
        for daemon in ["slurmctld", "slurmd"] {
            let mut command = Command::new(daemon);
            command.args(["-D", "-f", &at("slurm.conf")]);
            slurm.spawn(command)?;
        }
        let is_idle = |slurm: &Self| {
            let told = slurm.command("sinfo").args(["--noheader", "--format=%T"]).output();
            told.is_ok_and(|told| String::from_utf8_lossy(&told.stdout).trim() == "idle")
        };
        slurm.wait_for("an idle node", is_idle)?;
        Ok(slurm)
    }

    fn spawn(&mut self, mut command: Command) -> Result<(), String> {
        command.env("SLURM_CONF", self.folder.join("slurm.conf")).stdin(Stdio::null());
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        self.daemons.push(child.map_err(|error| error.to_string())?);
        Ok(())
    }

    fn wait_for(&mut self, what: &str, is_there: impl Fn(&Self) -> bool) -> Result<(), String> {
        let started = Instant::now();
        while !is_there(self) {
            for daemon in &mut self.daemons {
                if let Ok(Some(status)) = daemon.try_wait() {
                    return Err(format!("a daemon of Slurm ended with {status}"));
                }
            }
            if started.elapsed() > Duration::from_secs(30) {
                return Err(format!("Slurm has no {what} after 30 s"));
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    }

    fn command(&self, name: &str) -> Command {
        let mut command = Command::new(name);
        command.env("SLURM_CONF", self.folder.join("slurm.conf"));
        command
    }

    /// Submits a script and waits until all of its tasks have ended.
    fn batch(&self, p: &Program, options: &[&str], script: &str) {
        p.write("job.sh", format!("#!/bin/sh\n{script}\n"));
        let mut command = self.command("timeout");
        command.args(["300", "sbatch", "--wait", "--overcommit", "--output=job-%a.out"]);
        let told = command.args(options).arg("job.sh").current_dir(p.folder()).output().unwrap();
        let outputs = p.files().into_iter().filter(|name| name.ends_with(".out"));
        let said: Vec<String> =
            outputs.map(|name| std::fs::read_to_string(p.path(&name)).unwrap()).collect();
        assert!(
            told.status.success(),
            "{}\n{}",
            String::from_utf8_lossy(&told.stderr),
            said.concat()
        );
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        for daemon in self.daemons.iter_mut().rev() {
            // It may have ended by itself.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Makes a file readable by its owner only, as for a key.
fn private(path: &Path) -> Result<(), String> {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o400))
        .map_err(|error| error.to_string())
}

/// A cluster of this machine only, without accounting and without control groups.
fn configuration(folder: &Path) -> Result<String, String> {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").map_err(|e| e.to_string())?;
    let host = name.trim().split('.').next().unwrap_or_default();
    let port = || -> Result<u16, String> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map_err(|e| e.to_string())?;
        listener.local_addr().map(|address| address.port()).map_err(|e| e.to_string())
    };
    let (controller, node) = (port()?, port()?);
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let folder = folder.display();
    Ok(format!(
        "ClusterName=test\n\
         SlurmctldHost={host}(127.0.0.1)\n\
         SlurmctldPort={controller}\n\
         SlurmdPort={node}\n\
         SlurmUser=root\n\
         SlurmdUser=root\n\
         AuthType=auth/munge\n\
         AuthInfo=socket={folder}/munge.socket\n\
         CryptoType=crypto/munge\n\
         MpiDefault=none\n\
         ProctrackType=proctrack/pgid\n\
         TaskPlugin=task/none\n\
         JobAcctGatherType=jobacct_gather/none\n\
         AccountingStorageType=accounting_storage/none\n\
         SelectType=select/cons_tres\n\
         SelectTypeParameters=CR_CPU\n\
         ReturnToService=2\n\
         SlurmctldPidFile={folder}/slurmctld.pid\n\
         SlurmdPidFile={folder}/slurmd.pid\n\
         SlurmctldLogFile={folder}/slurmctld.log\n\
         SlurmdLogFile={folder}/slurmd.log\n\
         SlurmdSpoolDir={folder}/spool\n\
         StateSaveLocation={folder}/state\n\
         NodeName={host} NodeAddr=127.0.0.1 CPUs={processors} State=UNKNOWN\n\
         PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    ))
}

#[test]
fn a_job_array_measures_a_sweep_and_its_parts_become_the_whole() {
    let p = program();
    let folder = tempfile::tempdir().unwrap();
    let slurm = match Slurm::start(folder.path()) {
        Ok(slurm) => slurm,
        Err(why) => skip!(Need::Slurm, "{why}"),
    };
    let sweep = "gen:poisson2d?n=20 gen:stencil27?n=10 gen:road?m=900 gen:diagonal?m=99 \
                 --kernels 'cpu/csr/{serial,rows}' --runs 2 --threads 1,2 -q";
    let program = env!("CARGO_BIN_EXE_sparsescope-under-test");
    let bench = format!("{program} bench {sweep} --shard auto");

    let script = format!("exec {bench} -o part-$SLURM_ARRAY_TASK_ID.zip");
    slurm.batch(&p, &["--array=3-9:2"], &script);
    for (id, part) in [(3, 1), (5, 2), (7, 3), (9, 4)] {
        assert_eq!(open(&p, &format!("part-{id}.zip")).shard, Some(Shard { part, of: 4 }));
    }
    let parts = ["part-3.zip", "part-5.zip", "part-7.zip", "part-9.zip"];
    p.succeed(&[&["merge"], &parts[..], &["-o", "array.zip"]].concat());

    // Tasks of srun in one job.
    slurm.batch(&p, &["--ntasks=2"], &format!("exec srun --overcommit {bench} --label srun"));
    let made = p.files().into_iter().filter(|name| name.contains("-of-2.zip"));
    let made: Vec<String> = made.collect();
    assert_eq!(made.len(), 2, "{made:?}");
    p.succeed(&["merge", &made[0], &made[1], "-o", "tasks.zip"]);
    for whole in ["array.zip", "tasks.zip"].map(|name| open(&p, name)) {
        assert_eq!((whole.complete, whole.shard), (true, None));
        assert_eq!((whole.matrices.len(), whole.runs.len()), (4, 4 * 3));
    }
}
