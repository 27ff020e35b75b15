import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { accessTexts } from '../../api/texts/access.ts';
import { preflightTexts } from '../../api/texts/preflight.ts';
import { amount, filled, type Wording } from '../../api/texts/text.ts';
import type { SectionReport } from '../../explain/finding.ts';
import { nextFor } from '../../explain/next-steps.ts';
import { type Checked, error, reportOf, warning } from '../../explain/sections/check.ts';
import { same } from '../../explain/wording.ts';
import type { Node } from '../../kube/core-resources.ts';
import type { Cloud } from '../../openstack/cloud.ts';
import type { CloudIdentity } from '../../openstack/cloud-identity.ts';
import { createClouds } from '../../openstack/clouds.ts';
import { readCloudsYaml } from '../../operator/cloud/credentials/clouds-yaml.ts';
import { CloudsYamlError } from '../../operator/cloud/credentials/clouds-yaml-error.ts';
import { createLogger } from '../../process/log.ts';
import { isRequestError, type Service } from '../../requests/request-error.ts';
import type { Session } from '../../session/access/session.ts';
import { systemRandom } from '../../time/clock.ts';
import { DeadlineReached, withDeadline } from '../../time/deadline.ts';
import { WrongUsage } from '../refusal.ts';
import { type ClusterNodes, uuidOf } from './machines.ts';

/** Cloud of a clouds.yaml; dispose to close its connections. */
export interface OpenCloud extends AsyncDisposable {
  readonly cloud: Cloud;
  readonly file: string;
}

/** Opens the cloud of a clouds.yaml. Throws WrongUsage for an unusable file. */
export async function openCloud(session: Session, file: string): Promise<OpenCloud> {
  const identity = await identityIn(file, session.limit.ms);
  const log = createLogger({ part: 'cli', level: 'silent' });
  const clouds = createClouds({ clock: session.clock, random: systemRandom, log });
  return {
    cloud: clouds.get(identity),
    file,
    [Symbol.asyncDispose]: () => clouds[Symbol.asyncDispose](),
  };
}

async function identityIn(file: string, timeoutMs: number): Promise<CloudIdentity> {
  try {
    const {
      verify,
      cacert,
      interface: from = 'public',
      ...cloud
    } = readCloudsYaml(await readFile(file, 'utf8'));
    const ca =
      cacert === undefined ? {} : { ca: await readFile(resolve(dirname(file), cacert), 'utf8') };
    return { ...cloud, interface: from, tls: { ...ca, insecure: verify === false }, timeoutMs };
  } catch (cause) {
    const isOfFile =
      cause instanceof CloudsYamlError || (cause instanceof Error && 'code' in cause);
    if (!isOfFile || !(cause instanceof Error)) throw cause;
    throw new WrongUsage(`--cloud ${file}: ${cause.message}`, preflightTexts.cloudFile.en);
  }
}

/** Examines login and lists, and whether each Node is a server of the project. */
export async function examineCloud(
  session: Session,
  open: OpenCloud | undefined,
  clusters: readonly ClusterNodes[],
  chosen: Node | undefined,
): Promise<SectionReport> {
  if (open === undefined) {
    const missing = {
      what: preflightTexts.login,
      why: preflightTexts.noCloud,
      next: preflightTexts.giveCloud,
    };
    const none = { findings: [], skipped: [missing], checks: 0 };
    return reportOf('cloud', same(''), [none]);
  }
  try {
    const servers = await listsOf(session, open.cloud);
    const summary = filled(preflightTexts.cloudGood, { servers: amount(servers.size, 'server') });
    return reportOf('cloud', summary, [
      withoutServer(clusters, servers, chosen),
      { findings: [], checks: 3 },
    ]);
  } catch (cause) {
    return reportOf('cloud', same(''), [failed(cause, open.file)]);
  }
}

/** Error: a service did not answer within the limit. */
class SilentService extends Error {
  readonly service: Service;
  readonly ms: number;
  constructor(service: Service, { ms, message }: DeadlineReached) {
    super(message);
    this.service = service;
    this.ms = ms;
  }
}

/** Reads the lists of a sync; returns the ids of the servers. */
async function listsOf(session: Session, cloud: Cloud): Promise<ReadonlySet<string>> {
  const servers = await answerOf(session, cloud, 'nova', (signal) =>
    cloud.projectServers([], Number.POSITIVE_INFINITY, signal),
  );
  const [first = 'none'] = servers.keys();
  await answerOf(session, cloud, 'neutron', (signal) => cloud.portsOf([first], signal));
  return new Set(servers.keys());
}

/** Calls a service within the limit. Throws SilentService at the limit: before the login Keystone is silent. */
async function answerOf<T>(
  { limit }: Session,
  cloud: Cloud,
  service: Service,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await withDeadline(limit, call);
  } catch (cause) {
    if (!(cause instanceof DeadlineReached)) throw cause;
    throw new SilentService(cloud.projectId === undefined ? 'keystone' : service, cause);
  }
}

const reasonOf: Readonly<Partial<Record<Service, string>>> = {
  nova: 'NovaServerError',
  neutron: 'NeutronPortError',
};

/** A cloud that does not answer is an error: the operator could not read the cloud either. */
function failed(cause: unknown, file: string): Checked {
  const text = filled(preflightTexts.checkCloud, { file });
  const next = { text, commands: [], preview: [] };
  const { service, evidence } = causeOf(cause);
  const reason = reasonOf[service] ?? 'KeystoneError';
  return { findings: [error(file, reason, evidence, next)], checks: 1 };
}

function causeOf(cause: unknown): { readonly service: Service; readonly evidence: Wording } {
  if (cause instanceof SilentService) {
    const { service, ms } = cause;
    const { en, ko } = filled(accessTexts.noAnswerWithin, { time: `${ms / 1_000}s` });
    return { service, evidence: { en: `${service}: ${en}`, ko: `${service}: ${ko}` } };
  }
  if (isRequestError(cause)) return { service: cause.service, evidence: same(cause.message) };
  throw cause;
}

function withoutServer(
  clusters: readonly ClusterNodes[],
  servers: ReadonlySet<string>,
  chosen: Node | undefined,
): Checked {
  const findings = clusters.flatMap(({ provider, nodes }) =>
    (nodes.state === 'read' ? nodes.value : []).flatMap((node) => {
      const uuid = uuidOf(node);
      if (uuid === '' || servers.has(uuid) || (chosen && node !== chosen)) return [];
      const evidence = filled(preflightTexts.noServer, { uuid });
      const subject = `${provider}/${node.metadata.name}`;
      return [warning(subject, 'ServerNotFound', evidence, nextFor('ServerNotFound', {}))];
    }),
  );
  return { findings, checks: clusters.length };
}
