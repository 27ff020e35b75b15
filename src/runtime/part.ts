import type { DefinitionName } from '../api/crd/schema-numbers.ts';
import type { Effect } from '../api/effects.ts';
import type { metricTable } from '../api/metrics.ts';
import type { HttpServer } from '../http/app.ts';
import type { CertificateFiles } from '../http/certificate.ts';
import type { ClusterAccess } from '../kube/access/access.ts';
import { inCluster } from '../kube/access/in-cluster.ts';
import { loadKubeconfig } from '../kube/access/kubeconfig.ts';
import { aroundWrites } from '../kube/client/around-writes.ts';
import type { KubeClient } from '../kube/client/client.ts';
import { createKubeClient } from '../kube/client/http-client.ts';
import { runWithLease } from '../kube/lease/lease.ts';
import { createLeaseClient } from '../kube/lease/lease-client.ts';
import { together } from '../kube/reconcile/together.ts';
import type { Claim, RightsTable } from '../kube/rights.ts';
import { createPerform, type Perform } from '../process/effects.ts';
import type { PartContext } from '../process/part.ts';
import { userAgentOf } from '../process/version.ts';
import { leadWithDefinition } from '../self-check/lead-with-definition.ts';
import { createSelfCheck } from '../self-check/self-check.ts';
import { ApiServer } from './api-server.ts';
import type { LeadingPart } from './controllers.ts';
import { electionOf } from './election.ts';
import { countKubeRequests } from './kube-metrics.ts';

type Context = PartContext<typeof metricTable>;
type Task = (signal: AbortSignal) => Promise<void>;

/** What a part builds on. */
export interface PartBase {
  readonly access: ClusterAccess;
  readonly client: KubeClient;
  readonly perform: Perform<Effect>;
  readonly context: Context;
  /** Aborts when the part stops. */
  readonly lifetime: AbortSignal;
  /** Disposed after the HTTP server and before the client, last first. */
  readonly resources: AsyncDisposableStack;
}

/** What a part adds. */
export interface Wiring {
  /** Adds routes to the part's HTTP server. */
  readonly serve?: (app: HttpServer) => void;
  /** Reasons why the part is not ready, by name of the check; undefined: ready. */
  readonly readiness: Readonly<Record<string, () => string | undefined>>;
  /** Work of the lease holder, until the lease is lost or the process stops. */
  readonly lead?: Task;
  /** Called when this process gains or loses the lease. */
  readonly onLease?: (isLeading: boolean) => void;
  /** Work of every replica until the process stops; an earlier end fails the part. */
  readonly tasks?: Readonly<Record<string, Task>>;
}

interface Election {
  readonly part: LeadingPart;
  readonly namespace: string;
  readonly name: string;
  readonly durationMs: number;
  /** Leads only while the installed definition has every field of this build. */
  readonly needsDefinition?: boolean;
}

export interface PartOptions {
  /** Name in log lines; requests to the API server come from `multinic-NAME`. */
  readonly name: string;
  /** Name in Events, such as `multinic-operator`. */
  readonly component: string;
  /** Title of the HTTP API. */
  readonly title: string;
  readonly kubeconfig: string | undefined;
  readonly listen: { readonly host: string; readonly port: number };
  /** See ApiServer. */
  readonly server?: {
    readonly name: string;
    readonly files: CertificateFiles | undefined;
    readonly onCertificate: (endsAt: Date) => void;
  };
  readonly rights: { readonly table: RightsTable; readonly claims: readonly Claim[] };
  /** The part's own CRD, if the part may read CRDs. */
  readonly definition?: DefinitionName | undefined;
  /** Undefined: every replica does everything. */
  readonly election?: Election;
  /** Logged at the start. */
  readonly facts?: Readonly<Record<string, string>>;
  readonly wire: (base: PartBase) => Promise<Wiring> | Wiring;
}

/**
 * Runs a part until the signal aborts: access, clients, the part's own wiring, HTTP, self-check, lease. A part's task
 * that ends or fails early ends the part: a process with a dead part must not look alive.
 */
export async function runPart(
  part: PartOptions,
  context: Context,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, health } = context;
  const { name, component, title, listen: address, rights, definition } = part;
  const access = await accessOf(part.kubeconfig);
  await using client = createKubeClient(access, clientOptions(part, context));
  await using resources = new AsyncDisposableStack();
  const perform = createPerform<Effect>((effect, phase) => log.debug({ effect, phase }, 'effect'));
  const base = { access, client, perform, context, lifetime: signal, resources };
  const wiring = await part.wire(base);
  await using server = await ApiServer.open({ title, address, ...part.server }, context);
  wiring.serve?.(server.app);
  for (const [check, notReady] of Object.entries(wiring.readiness)) health.ready(check, notReady);
  const selfCheck = createSelfCheck({ client, context, component, ...rights, definition });
  const url = await server.listen(signal);
  log.info({ url, server: access.server, ...part.facts }, `${name} started`);
  await together(signal, clock, {
    certificate: async (end) => server.followCertificate(end),
    ...(wiring.lead && { [name]: async (end: AbortSignal) => lead(part, wiring, base, end) }),
    ...(selfCheck && { 'self-check': selfCheck }),
    ...wiring.tasks,
  });
}

function clientOptions({ name }: PartOptions, { clock, random, metrics }: Context) {
  return {
    clock,
    random,
    userAgent: userAgentOf(`multinic-${name}`),
    onRequest: countKubeRequests(metrics),
  };
}

/** Waits for the lease, then runs the work of the leader. */
async function lead(
  part: PartOptions,
  { lead: work, onLease }: Wiring,
  { access, client, perform, context }: PartBase,
  signal: AbortSignal,
): Promise<void> {
  const { election, definition } = part;
  if (!election || !work) return;
  const { namespace, name, durationMs: leaseDurationMs } = election;
  const options = { ...clientOptions(part, context), leaseDurationMs };
  await using leaseClient = createLeaseClient(access, options);
  const lease = electionOf({
    lease: { namespace, name },
    leaseDurationMs,
    client: aroundWrites(leaseClient, (write) => perform(`${election.part}.lease.write`, write)),
    name: context.processName ?? election.part,
    context,
    ...(onLease && { onChange: onLease }),
  });
  const elect = async (end: AbortSignal): Promise<void> => runWithLease(lease, end, work);
  if (election.needsDefinition && definition) {
    await leadWithDefinition({ ...context, client, definition }, signal, elect);
  } else {
    await elect(signal);
  }
}

function accessOf(kubeconfig: string | undefined): Promise<ClusterAccess> {
  return kubeconfig === undefined ? inCluster() : loadKubeconfig(kubeconfig);
}
