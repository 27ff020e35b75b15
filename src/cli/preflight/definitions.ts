import { crdPath } from '../../api/crd/path.ts';
import { type DefinitionName, schemaNumbers } from '../../api/crd/schema-numbers.ts';
import { annotations, managementGroup } from '../../api/names.ts';
import { preflightTexts } from '../../api/texts/preflight.ts';
import { filled } from '../../api/texts/text.ts';
import type { SectionReport } from '../../explain/finding.ts';
import { nextFor } from '../../explain/next-steps.ts';
import { type Checked, error, onFact, reportOf, warning } from '../../explain/sections/check.ts';
import { type Crd, crds } from '../../kube/core-resources.ts';
import { grantCrds } from '../../session/access/grants.ts';
import type { Session } from '../../session/access/session.ts';
import { flagsTo } from '../../session/access/sources.ts';
import { factOf } from '../../session/facts/unread.ts';
import { aboutCluster, type TargetCluster } from './clusters.ts';

const names = Object.keys(schemaNumbers) as DefinitionName[];

/** Examines installed CRDs: older, newer and foreign definitions. */
export async function examineDefinitions(
  session: Session,
  clusters: readonly TargetCluster[],
): Promise<SectionReport> {
  const checked = await Promise.all(clusters.map((cluster) => definitionsIn(session, cluster)));
  return reportOf('definitions', preflightTexts.noneInstalled, checked);
}

async function definitionsIn(session: Session, cluster: TargetCluster): Promise<Checked> {
  const isManagement = cluster.chart === 'multinic-operator';
  const own = names.filter((name) => name.endsWith(managementGroup) === isManagement);
  const about = aboutCluster(
    cluster,
    filled(preflightTexts.definitions, { cluster: cluster.name }),
    grantCrds(flagsTo(session.options, cluster.provider)),
  );
  const fact = await factOf(session, about, async () => {
    const client = await session.client(cluster.provider);
    const { signal } = session;
    return Promise.all(
      own.map(async (name) => ({ name, crd: await client.find(crds, { name }, { signal }) })),
    );
  });
  return onFact(fact, (found) => ({
    findings: found.flatMap(({ name, crd }) => (crd ? flawsOf(cluster, name, crd) : [])),
    checks: found.length,
  }));
}

function flawsOf({ name: cluster }: TargetCluster, name: DefinitionName, { metadata }: Crd) {
  const subject = `${cluster}/${name}`;
  const expected = schemaNumbers[name];
  const installed = Number.parseInt(metadata.annotations?.[annotations.schema] ?? '', 10);
  if (Number.isNaN(installed)) {
    const evidence = filled(preflightTexts.foreign, { name });
    return [error(subject, 'ForeignCRD', evidence, nextFor('ForeignCRD', {}))];
  }
  if (installed > expected) {
    const evidence = filled(preflightTexts.newer, { name, installed, expected });
    return [warning(subject, 'CRDTooNew', evidence, nextFor('CRDTooNew', {}))];
  }
  if (installed === expected) return [];
  const evidence = filled(preflightTexts.older, { name, installed, expected });
  const file = crdPath(name.replace(/^(\w+)\.(.*)$/, '$2_$1.yaml'));
  const commands = [`kubectl apply --server-side --force-conflicts -f ${file}`];
  const { text } = nextFor('CRDTooOld', {});
  return [warning(subject, 'CRDTooOld', evidence, { text, commands, preview: [] })];
}
