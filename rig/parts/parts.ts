import type { HeapOwner } from '../../src/process/heap.ts';
import type { Clock } from '../../src/time/clock.ts';
import { home } from '../chain/identities.ts';
import { program } from './program.ts';
import type { ChildSpec } from './supervisor.ts';
import { answers } from './waiting.ts';

interface Common {
  readonly kubeconfig: string;
  readonly clock: Clock;
  /** Log level of the part; debug names every external write. */
  readonly logLevel?: 'info' | 'debug';
  readonly env?: Readonly<Record<string, string>>;
}

export interface ViolaPart extends Common {
  readonly port: number;
  readonly tokenFile: string;
}

export interface ControllerPart extends Common {
  readonly port: number;
  readonly agentImage: string;
}

export interface OperatorPart extends Common {
  readonly healthPort: number;
  readonly inventoryPort: number;
  readonly violaUrl: string;
  readonly violaTokenFile: string;
  readonly contrabassUrl: string;
  readonly encryptKey: string;
  readonly database: string;
  /** Poll interval of all states but errors; the product's own are made for production. */
  readonly poll: string;
}

export function violaPart({ kubeconfig, port, tokenFile, ...common }: ViolaPart): ChildSpec {
  const args = ['--kubeconfig', kubeconfig, '--listen', loopback(port)];
  return part('viola', [...args, '--tokens-file', tokenFile], common, port);
}

export function controllerPart(options: ControllerPart): ChildSpec {
  const { kubeconfig, port, agentImage } = options;
  const args = ['--kubeconfig', kubeconfig, '--listen', loopback(port)];
  const agent = ['--agent-image', agentImage, '--agent-image-pull-policy', 'Never'];
  return part('controller', [...args, ...agent], options, port);
}

export function operatorPart(options: OperatorPart): ChildSpec {
  const { kubeconfig, violaUrl, violaTokenFile, contrabassUrl, encryptKey, poll } = options;
  const args = [
    ['--kubeconfig', kubeconfig, '--namespace', home],
    ['--viola-endpoint', violaUrl, '--viola-token-file', violaTokenFile],
    ['--contrabass-endpoint', contrabassUrl],
    ['--poll-fast-interval', poll, '--poll-slow-interval', poll, '--poll-error-interval', poll],
    ['--inventory-db-path', options.database],
    ['--health-probe-bind-address', loopback(options.healthPort)],
  ].flat();
  const env = {
    ...options.env,
    CONTRABASS_ENCRYPT_KEY: encryptKey,
    INVENTORY_ADDR: loopback(options.inventoryPort),
  };
  return part('operator', args, { ...options, env }, options.healthPort);
}

function part(
  name: HeapOwner,
  args: readonly string[],
  options: Omit<Common, 'kubeconfig'>,
  port: number,
): ChildSpec {
  const { clock, logLevel = 'info', env = {} } = options;
  const started = program(name);
  return {
    name,
    command: [...started.command, ...args],
    env: { ...started.env, LOG_LEVEL: logLevel, ...env },
    ready: (signal) => answers(`http://${loopback(port)}/readyz`, { clock, signal }),
  };
}

function loopback(port: number): string {
  return `127.0.0.1:${port}`;
}
