import type { HeapOwner } from '../../src/process/heap.ts';
import type { Clock } from '../../src/time/clock.ts';
import { home } from '../chain/identities.ts';
import { program } from './program.ts';
import type { ChildSpec } from './supervisor.ts';
import { answers, answersByTls } from './waiting.ts';

interface Common {
  readonly kubeconfig: string;
  readonly clock: Clock;
  /** Log level of the part; debug names every external write. */
  readonly logLevel?: 'info' | 'debug';
  readonly env?: Readonly<Record<string, string>>;
  /** Folder of the bundle, when it is another version than this one. */
  readonly bundle?: string | undefined;
}

export interface ViolaPart extends Common {
  readonly port: number;
  /** A file, or a folder of them. */
  readonly tokenFile: string;
  /** Files of its certificate; without them it serves plain HTTP. */
  readonly tls?: {
    readonly certificate: string;
    readonly key: string;
    readonly authorities: string;
  };
}

export interface ControllerPart extends Common {
  readonly port: number;
  readonly agentImage: string;
}

export interface LifecyclePart extends Common {
  readonly port: number;
  readonly webhookPort: number;
  /** Where an API server in another network namespace reaches it; default: loopback. */
  readonly webhookHost?: string;
}

export interface OperatorPart extends Common {
  readonly healthPort: number;
  readonly inventoryPort: number;
  readonly violaUrl: string;
  /** Missing: the operator makes its token itself, and the authority of Viola's certificate. */
  readonly violaTokenFile?: string;
  readonly contrabassUrl: string;
  readonly encryptKey: string;
  readonly database: string;
  /** Poll interval of all states but errors; the product's own are made for production. */
  readonly poll: string;
}

export function violaPart({ kubeconfig, port, tokenFile, tls, ...common }: ViolaPart): ChildSpec {
  const args = ['--kubeconfig', kubeconfig, '--listen', loopback(port)];
  const own = [...args, '--tokens-file', tokenFile];
  if (!tls) return part('viola', own, common, port);
  const { certificate, key, authorities } = tls;
  const files = ['--tls-cert', certificate, '--tls-key', key];
  return {
    ...part('viola', [...own, ...files], common, port),
    ready: (signal) =>
      answersByTls(`https://${loopback(port)}/readyz`, authorities, {
        clock: common.clock,
        signal,
      }),
  };
}

export function controllerPart(options: ControllerPart): ChildSpec {
  const { kubeconfig, port, agentImage } = options;
  const args = ['--kubeconfig', kubeconfig, '--listen', loopback(port)];
  const agent = ['--agent-image', agentImage, '--agent-image-pull-policy', 'Never'];
  return part('controller', [...args, ...agent], options, port);
}

export function lifecyclePart(options: LifecyclePart): ChildSpec {
  const { kubeconfig, port, webhookPort, webhookHost = '127.0.0.1' } = options;
  const webhook = `${webhookHost}:${webhookPort}`;
  const args = ['--kubeconfig', kubeconfig, '--listen', loopback(port)];
  const url = ['--webhook-listen', webhook, '--webhook-url', `https://${webhook}`];
  return part('lifecycle', [...args, ...url], options, port);
}

export function operatorPart(options: OperatorPart): ChildSpec {
  const { kubeconfig, violaUrl, violaTokenFile, contrabassUrl, encryptKey, poll } = options;
  const args = [
    ['--kubeconfig', kubeconfig, '--namespace', home],
    ['--viola-endpoint', violaUrl],
    violaTokenFile === undefined
      ? ['--viola-access', 'managed', '--viola-tls', 'managed']
      : ['--viola-token-file', violaTokenFile],
    ['--contrabass-endpoint', contrabassUrl],
    ['--poll-fast-interval', poll, '--poll-slow-interval', poll, '--poll-error-interval', poll],
    ['--inventory-db-path', options.database],
    ['--health-probe-bind-address', loopback(options.healthPort)],
  ].flat();
  const env = {
    // Clouds of rigs are on this machine.
    ALLOWED_ENDPOINTS: 'http://127.0.0.1:*,https://127.0.0.1:*,*',
    DELETION_DELAY: '2s',
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
  const { clock, logLevel = 'info', env = {}, bundle } = options;
  const started = program(name, bundle);
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
