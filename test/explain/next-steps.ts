import { expect } from 'vitest';
import { run } from '../../rig/hosts/namespace/command.ts';
import { accessOptions, multinic, multinicOnTerminal } from '../fixtures/chain/multinic.ts';
import type { Worker, World } from '../fixtures/chain/world.ts';
import { kubectl } from './kubectl.ts';

/** Where a printed command runs. */
export interface Place {
  readonly world: World;
  readonly worker: Worker;
}

type Words = readonly string[];

/** Runs a printed command word by word; throws on a failure or on unknown words. */
export async function carryOut(place: Place, command: string): Promise<void> {
  const [program = '', ...words] = await shellWords(command);
  const runner = programs[program];
  if (!runner) throw new Error(`no program ${program} runs: ${command}`);
  await runner(place, words);
}

/** Splits a command as a shell does. */
async function shellWords(command: string): Promise<string[]> {
  const { code, stdout, stderr } = await run('sh', ['-c', `printf '%s\\0' ${command}`]);
  if (code !== 0) throw new Error(`${command}: ${stderr}`);
  return stdout.split('\0').slice(0, -1);
}

const programs: Readonly<Record<string, (place: Place, words: Words) => Promise<unknown>>> = {
  ip: ({ worker }, words) => worker.host.ip(...words),
  kubectl: ({ world }, words) =>
    words[0] === 'multinic' ? plugin(world, words.slice(1)) : kubectl(world, words),
  openstack: ({ world }, words) => openstack(world, words),
};

/** Exit statuses: done, and `plan` and `diff` with changes. */
const done = [0, 4];

async function plugin(world: World, words: Words): Promise<void> {
  // The prompt asks for confirmation on a terminal only.
  const { status, out, err } =
    words[0] === 'register-cluster'
      ? await multinicOnTerminal(world, 'yes', ...words)
      : await multinic(world, ...words, ...accessOptions(world));
  expect(done, `multinic ${words.join(' ')}: ${out}${err}`).toContain(status);
}

/** Runs the OpenStack CLI's commands from next steps, as the tenant. */
async function openstack({ tenant }: World, words: Words): Promise<void> {
  for (const [form, call] of openstackCalls) {
    const [, ...values] = form.exec(words.join(' ')) ?? [];
    if (values.length > 0) return call(tenant, values);
  }
  throw new Error(`openstack ${words.join(' ')} is no next step`);
}

type OpenstackCall = (tenant: World['tenant'], values: Words) => Promise<void>;

const openstackCalls: readonly (readonly [form: RegExp, call: OpenstackCall])[] = [
  [
    /^port show (\S+)$/,
    async (tenant, [port = '']) => expect(await tenant.port(port)).toBeDefined(),
  ],
  [
    /^port set --fixed-ip subnet=(\S+) (\S+)$/,
    async (tenant, [subnet = '', port = '']) => {
      await tenant.updatePort(port, { fixed_ips: [{ subnet_id: subnet }] });
    },
  ],
  [
    /^server remove port (\S+) (\S+)$/,
    async (tenant, [server = '', port = '']) => tenant.detach(server, port),
  ],
  [
    /^server add port (\S+) (\S+)$/,
    async (tenant, [server = '', port = '']) => {
      await tenant.attach(server, { portId: port });
    },
  ],
];
