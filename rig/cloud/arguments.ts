import { parseArgs } from 'node:util';
import type { AdminAccount } from './identity.ts';
import { defaultAdmin, defaultProviderId } from './start.ts';

export const help = `Simulated cloud: Contrabass, Keystone, Neutron, Nova in memory on one loopback port.

  node rig/cloud/main.ts [options]

  --port N              port to listen on (default: any free one)
  --latency MS          delay of every answer (default 0)
  --encrypt-key KEY     key of Contrabass' passwords, 16, 24 or 32 bytes
                        (default: $CONTRABASS_ENCRYPT_KEY, else "multinic-rig-key")
  --provider-id ID      the one provider that Contrabass knows (default ${defaultProviderId})
  --contrabass-only     serve Contrabass alone, in front of another Keystone
  --keystone URL        that Keystone; its administrator is ${defaultAdmin.username}/${defaultAdmin.password} unless
                        --admin-user, --admin-password, --admin-domain say otherwise
  --help                this text

Prints one JSON line with the URLs when it is ready and serves until SIGTERM or Ctrl-C.
Other processes control it by POST <controlUrl>/<name>, names as in rig/cloud/controls.ts.
Exit codes: 0 stopped, 2 wrong arguments or a port that is taken.
`;

const defaultKey = 'multinic-rig-key';

/** What `rig/cloud/main.ts` was asked for. */
export interface Arguments {
  readonly port: number;
  readonly latencyMs: number;
  readonly encryptKey: string;
  readonly providerId: string;
  readonly contrabassOnly: boolean;
  readonly keystoneUrl: string | undefined;
  readonly admin: AdminAccount;
}

/** Reads the command line; throws a sentence about the first thing that is wrong. */
export function readArguments(argv: readonly string[]): Arguments | 'help' {
  const { values } = parseArgs({
    args: [...argv],
    options: {
      port: { type: 'string', default: '0' },
      latency: { type: 'string', default: '0' },
      'encrypt-key': { type: 'string' },
      'provider-id': { type: 'string', default: defaultProviderId },
      'contrabass-only': { type: 'boolean', default: false },
      keystone: { type: 'string' },
      'admin-user': { type: 'string', default: defaultAdmin.username },
      'admin-password': { type: 'string', default: defaultAdmin.password },
      'admin-domain': { type: 'string', default: defaultAdmin.domainName },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return 'help';
  const encryptKey = values['encrypt-key'] ?? process.env['CONTRABASS_ENCRYPT_KEY'] ?? defaultKey;
  if (![16, 24, 32].includes(Buffer.byteLength(encryptKey))) {
    throw new Error('--encrypt-key must have 16, 24 or 32 bytes');
  }
  if (values['contrabass-only'] && values.keystone === undefined) {
    throw new Error('--contrabass-only needs --keystone URL');
  }
  return {
    port: wholeNumber('--port', values.port, 65_535),
    latencyMs: wholeNumber('--latency', values.latency, 600_000),
    encryptKey,
    providerId: values['provider-id'],
    contrabassOnly: values['contrabass-only'],
    keystoneUrl: values.keystone,
    admin: {
      ...defaultAdmin,
      username: values['admin-user'],
      password: values['admin-password'],
      domainName: values['admin-domain'],
    },
  };
}

function wholeNumber(name: string, text: string, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw new Error(`${name} must be a whole number from 0 to ${most}, not "${text}"`);
}
