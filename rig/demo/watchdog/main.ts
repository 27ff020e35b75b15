// Removes everything of a demo after its process has ended:  main.ts DIRECTORY PID
// Standard input is a pipe from the demo. The kernel closes it when the demo ends, also by SIGKILL.
import { removeLeftovers } from './leftovers.ts';

const [directory = '', pid = ''] = process.argv.slice(2);
if (!directory || !pid) throw new Error('usage: main.ts DIRECTORY PID');
for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => undefined);
for await (const _ of process.stdin);
await removeLeftovers({ directory, pid: Number(pid) });
