import { labels } from '../../api/names.ts';
import { accessTexts } from '../../api/texts/access.ts';
import { filled } from '../../api/texts/text.ts';
import type { Fact } from '../../explain/fact.ts';
import type { PartHealth, PartVersion } from '../../explain/facts.ts';
import { same } from '../../explain/wording.ts';
import { type Deployment, deployments } from '../../kube/core-resources.ts';
import { thisBuild } from '../../process/version.ts';
import { grantReader, grantView } from '../access/grants.ts';
import { usualHomes } from '../access/operator-home.ts';
import type { Session } from '../access/session.ts';
import { Unread } from '../access/unread.ts';
import { type ConfigObject, openstackConfigs } from './kinds.ts';
import { factOf } from './unread.ts';

/** Reads OpenstackConfigs of one or all namespaces, by namespace and name. */
export function readConfigs(
  session: Session,
  namespace: string | undefined,
): Promise<Fact<ConfigObject[]>> {
  const { signal } = session;
  const about = {
    what: same('OpenstackConfigs'),
    source: 'management cluster' as const,
    grant: grantView,
    now: session.now(),
  };
  return factOf(about, async () => {
    const client = await session.management();
    const { items } = await client.listAll(openstackConfigs, { namespace, signal });
    return items.toSorted((a, b) => compare(keyOf(a), keyOf(b)));
  });
}

function keyOf({ metadata: { namespace = '', name } }: ConfigObject): string {
  return `${namespace}/${name}`;
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}

/** Parts in the operator's namespace, with health and build. */
export interface ManagementParts {
  readonly health: readonly PartHealth[];
  readonly versions: readonly PartVersion[];
}

const managementParts = ['operator', 'viola', 'lifecycle'] as const;

export function readParts(session: Session): Promise<Fact<ManagementParts>> {
  const { signal, options } = session;
  const about = {
    what: accessTexts.parts,
    source: 'management cluster' as const,
    grant: grantReader(options.operatorNamespace ?? usualHomes[0]),
    now: session.now(),
  };
  return factOf(about, async () => {
    const client = await session.management();
    const { namespace, leader } = await session.home();
    const { items } = await client.listAll(deployments, { namespace, signal });
    const found = managementParts.flatMap((part) =>
      items.filter((each) => componentOf(each) === part).map((each) => ({ part, each })),
    );
    if (found.length === 0) {
      throw new Unread(filled(accessTexts.noDeployment, { namespace }), accessTexts.giveNamespace);
    }
    return {
      health: found.map(({ part, each }) => ({
        part,
        ...healthOf(each),
        leader: part === 'operator' ? leader : undefined,
      })),
      versions: [
        ...found.flatMap(({ part, each }) => versionOf(part, each)),
        { part: 'cli' as const, providerId: undefined, version: thisBuild().version },
      ],
    };
  });
}

function componentOf({ metadata }: Deployment): string | undefined {
  return metadata.labels?.[labels.component];
}

function healthOf({ spec, status }: Deployment) {
  const replicas = spec?.replicas ?? 1;
  const readyReplicas = status?.readyReplicas ?? 0;
  const failed = status?.conditions?.find(
    ({ type, status: word }) => type === 'Available' && word === 'False',
  );
  const problem =
    readyReplicas < replicas ? (failed?.message ?? 'not all replicas are ready') : undefined;
  return { providerId: undefined, replicas, readyReplicas, problem };
}

/** Returns the build by the label of the chart; other installations have none. */
function versionOf(part: PartVersion['part'], { metadata }: Deployment): PartVersion[] {
  const version = metadata.labels?.['app.kubernetes.io/version'];
  return version === undefined ? [] : [{ part, providerId: undefined, version }];
}
