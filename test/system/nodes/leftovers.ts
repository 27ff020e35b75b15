import { execFileSync, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Leftovers on this machine with `name` in their names: processes, network namespaces, mounts, cgroups, files. */
export function leftoversOf(name: string): readonly string[] {
  // A concurrently removed cgroup makes find fail, but only after find has listed the rest.
  const cgroups = spawnSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', `*${name}*`]).stdout;
  return [
    ...processes().filter((line) => line.includes(name)),
    ...execFileSync('ip', ['netns', 'list'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(name)),
    ...readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .filter((line) => line.includes(name)),
    ...cgroups.toString().split('\n').filter(Boolean),
    ...['/tmp/multinic-control-plane', '/tmp/multinic-box'].flatMap((folder) =>
      filesIn(folder).filter((file) => file.includes(name)),
    ),
  ];
}

function processes(): readonly string[] {
  return readdirSync('/proc')
    .filter((entry) => /^\d+$/.test(entry))
    .map((pid) => `process ${pid} ${commandLine(pid)}`);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    // The process ended between listing and reading.
    return '';
  }
}

function filesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    // The file does not exist yet.
    return [];
  }
}
