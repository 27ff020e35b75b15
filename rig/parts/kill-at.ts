// Loaded with --import before a part of ours: ends its process without a word at one of its external writes. The parts log
// each write before and after it at level debug, synchronously; so the line in the log is the moment, and the part needs no
// hook for it.
//
//   KILL_AT='NAME PHASE NUMBER'   such as "viola.node-config.apply after 1"
//   KILL_AT_FILE=PATH             removed at that moment, so that one process of many dies
//   EFFECTS_FILE=PATH             gets each moment as a line
import fs from 'node:fs';

const { appendFileSync, rmSync, writeSync } = fs;
const killAt = process.env['KILL_AT'];
const killAtFile = process.env['KILL_AT_FILE'];
const effectsFile = process.env['EFFECTS_FILE'];
const counts = new Map<string, number>();

function look(text: string): void {
  const effect = /"effect":"([^"]+)"/.exec(text)?.[1];
  const phase = /"phase":"([^"]+)"/.exec(text)?.[1];
  if (effect === undefined || phase === undefined) return;
  const moment = `${effect} ${phase}`;
  const count = (counts.get(moment) ?? 0) + 1;
  counts.set(moment, count);
  if (effectsFile) appendFileSync(effectsFile, `${moment} ${count}\n`);
  // Whatever is still to be written is lost, as by a power cut; children find their pipes closed.
  if (killAt !== `${moment} ${count}`) return;
  if (killAtFile) rmSync(killAtFile);
  // The first process of a container cannot be killed from within; its end takes the others along.
  if (process.pid === 1) process.exit(137);
  process.kill(process.pid, 'SIGKILL');
}

// The log of the parts goes through fs.write; done at once, so that a line is written before the part goes on.
fs.write = ((fd: number, text: string, ...rest: readonly unknown[]) => {
  look(text);
  const done = rest.at(-1) as Written;
  done(null, writeSync(fd, text));
}) as typeof fs.write;

type Written = (error: Error | null, bytes: number) => void;

// The agent's goes to standard error.
const write = process.stderr.write.bind(process.stderr);
process.stderr.write = ((...args: Parameters<typeof write>) => {
  if (typeof args[0] === 'string') look(args[0]);
  return write(...args);
}) as typeof process.stderr.write;
