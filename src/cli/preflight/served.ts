import * as z from 'zod';
import { preflightTexts } from '../../api/texts/preflight.ts';
import { filled } from '../../api/texts/text.ts';
import type { SectionReport } from '../../explain/finding.ts';
import { nextFor } from '../../explain/next-steps.ts';
import { type Checked, error, onFact, reportOf } from '../../explain/sections/check.ts';
import { isNotFound, KubeError } from '../../kube/errors.ts';
import { grantSystem } from '../../session/access/grants.ts';
import type { Session } from '../../session/access/session.ts';
import { flagsTo } from '../../session/access/sources.ts';
import { factOf } from '../../session/facts/unread.ts';
import { type ChartKind, chartKinds } from './chart-kinds.ts';
import { aboutCluster, type TargetCluster } from './clusters.ts';

const resourceList = z.object({ resources: z.array(z.object({ name: z.string() })) });

/** Examines whether the API servers serve the charts' kinds. */
export async function examineApi(
  session: Session,
  clusters: readonly TargetCluster[],
): Promise<SectionReport> {
  const checked = await Promise.all(clusters.map((cluster) => servedIn(session, cluster)));
  const count = checked.reduce((sum, { checks }) => sum + checks, 0);
  return reportOf('api', filled(preflightTexts.allServed, { count }), checked);
}

async function servedIn(session: Session, cluster: TargetCluster): Promise<Checked> {
  const kinds: readonly ChartKind[] = chartKinds[cluster.chart];
  const about = aboutCluster(
    cluster,
    filled(preflightTexts.kinds, { cluster: cluster.name }),
    grantSystem(flagsTo(session.options, cluster.provider), 'system:discovery'),
  );
  const fact = await factOf(session, about, async () => {
    const client = await session.client(cluster.provider);
    const { gitVersion } = await client.version({ signal: session.signal });
    const groups = [...new Set(kinds.map(pathOf))];
    const served = await Promise.all(
      groups.map(async (path) => [path, await namesAt(session, cluster, path)] as const),
    );
    return { gitVersion, served: new Map(served) };
  });
  return onFact(fact, ({ gitVersion, served }) => ({
    findings: kinds
      .filter((kind) => served.get(pathOf(kind))?.includes(kind.plural) !== true)
      .map(({ kind, group, version }) => {
        const values = { version: gitVersion, kind, group: `${group || 'core'}/${version}` };
        const evidence = filled(preflightTexts.notServed, values);
        return error(
          `${cluster.name}/${kind}`,
          'KindNotServed',
          evidence,
          nextFor('KindNotServed', {}),
        );
      }),
    checks: kinds.length,
  }));
}

function pathOf({ group, version }: ChartKind): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/** Returns the resources of a group's version; empty: the API server does not serve the version. */
async function namesAt(
  session: Session,
  { provider }: TargetCluster,
  path: string,
): Promise<readonly string[]> {
  try {
    const text = await session.text(provider, path);
    return resourceList.parse(JSON.parse(text)).resources.map(({ name }) => name);
  } catch (reason) {
    if (isNotFound(reason)) return [];
    if (
      reason instanceof KubeError ||
      !(reason instanceof SyntaxError || reason instanceof z.ZodError)
    )
      throw reason;
    throw new KubeError({
      status: 0,
      reason: 'InvalidAnswer',
      message: `GET ${path}: ${reason.message}`,
    });
  }
}
