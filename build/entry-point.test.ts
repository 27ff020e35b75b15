import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { controllerPart, operatorPart, violaPart } from '../rig/parts/parts.ts';
import { program } from '../rig/parts/program.ts';
import { systemClock } from '../src/time/clock.ts';
import { entryPoint } from './entry-point.ts';
import { agentEntry } from './image/folders.ts';

const root = join(import.meta.dirname, '..');
const limits = [/^--max-semi-space-size=\d+$/, /^--max-old-space-size=\d+$/];

/** True if Node.js gets both limits: flags after the program would be flags of the part. */
function expectLimited(command: readonly string[], part: string): void {
  const main = command.findIndex((word) => /main\.mjs$|^--snapshot-blob=/.test(word));
  const flags = command.slice(1, main);
  expect(limits.map((limit) => flags.some((flag) => limit.test(flag)))).toEqual([true, true]);
  expect(command[main + 1]).toBe(part);
}

describe('every part starts with heap limits', () => {
  it.each(['operator', 'viola', 'controller', 'agent'] as const)('%s, in the image', (part) => {
    const { command, env } = entryPoint(part);
    expect(command[0]).toBe('/usr/local/bin/node');
    expectLimited(command, part);
    expect(env).toEqual({
      MALLOC_ARENA_MAX: '1',
      MALLOC_MMAP_THRESHOLD_: '32768',
      MALLOC_TOP_PAD_: '0',
    });
  });

  it('operator, viola and controller, in the rig and in tests', () => {
    const common = { clock: systemClock, kubeconfig: 'k' };
    const parts = [
      violaPart({ ...common, port: 1, tokenFile: 't' }),
      controllerPart({ ...common, port: 1, agentImage: 'i' }),
      operatorPart({
        ...common,
        healthPort: 1,
        inventoryPort: 2,
        violaUrl: 'v',
        violaTokenFile: 't',
        contrabassUrl: 'c',
        encryptKey: 'e',
        database: 'd',
        poll: '1s',
      }),
    ];
    for (const { name, command, env } of parts) {
      expectLimited(command, name);
      expect(env).toMatchObject({ MALLOC_ARENA_MAX: '1' });
    }
    expectLimited(program('agent').command, 'agent');
  });

  it.each([
    ['amd64', '--snapshot-blob=/app/agent.blob'],
    ['arm64', '/app/main.mjs'],
  ] as const)('the agent, in the image for %s, from %s', async (architecture, from) => {
    const command = agentEntry(architecture);
    expect(command.slice(-2)).toEqual([from, 'agent']);
    expect(limits.map((limit) => command.some((flag) => limit.test(flag)))).toEqual([true, true]);
    const dockerfile = await readFile(join(root, 'build/image/Dockerfile.agent'), 'utf8');
    const stages = dockerfile.split(/^FROM /m);
    const [stage] = stages.filter((one) => one.startsWith(`scratch AS ${architecture}\n`));
    const [, entry = ''] = /^ENTRYPOINT (.*)$/m.exec(stage ?? '') ?? [];
    expect(JSON.parse(entry)).toEqual(command);
  });

  it('the agent, in the packed image', async () => {
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [join(root, 'build/entry-point.ts'), 'agent']);
    expect(JSON.parse(stdout)).toEqual(entryPoint('agent').command);
    const pack = await readFile(join(root, 'rig/agent-image/pack'), 'utf8');
    expect(pack).toContain('build/entry-point.ts" agent)');
  });
});
