import { preflightTexts } from '../../api/texts/preflight.ts';
import { filled } from '../../api/texts/text.ts';
import type { Missing } from '../../explain/fact.ts';
import type { SectionReport } from '../../explain/finding.ts';
import { nextFor } from '../../explain/next-steps.ts';
import { type Checked, error, onFact, reportOf } from '../../explain/sections/check.ts';
import type { Verb } from '../../kube/rights.ts';
import { grantSystem } from '../../session/access/grants.ts';
import type { Session } from '../../session/access/session.ts';
import { flagsTo } from '../../session/access/sources.ts';
import { type FactAbout, factOf } from '../../session/facts/unread.ts';
import { type ChartKind, chartKinds } from './chart-kinds.ts';
import { aboutCluster, type TargetCluster } from './clusters.ts';

/** Examines with SelfSubjectAccessReviews whether the user may install the charts. */
export async function examineRights(
  session: Session,
  clusters: readonly TargetCluster[],
): Promise<SectionReport> {
  const checked = await Promise.all(clusters.map((cluster) => rightsIn(session, cluster)));
  return reportOf('rights', preflightTexts.mayInstall, checked);
}

interface Review {
  readonly kind: ChartKind;
  readonly denied: readonly Verb[];
  readonly isUndecided: boolean;
}

async function rightsIn(session: Session, cluster: TargetCluster): Promise<Checked> {
  const about = aboutCluster(
    cluster,
    filled(preflightTexts.rights, { cluster: cluster.name }),
    grantSystem(flagsTo(session.options, cluster.provider), 'system:basic-user'),
  );
  const kinds: readonly ChartKind[] = chartKinds[cluster.chart];
  const fact = await factOf(session, about, () =>
    Promise.all(kinds.map((kind) => reviewOf(session, cluster, kind))),
  );
  return onFact(fact, (reviews) => ({
    findings: reviews
      .filter(({ denied }) => denied.length > 0)
      .map((each) => finding(cluster, each)),
    skipped: undecidedIn(session, about, reviews),
    checks: reviews.filter(({ isUndecided }) => !isUndecided).length,
  }));
}

/** An undecided review is a missing answer of the API server. */
function undecidedIn(
  session: Session,
  { what, source, provider }: FactAbout,
  reviews: readonly Review[],
): Missing[] {
  const open = reviews.filter(({ isUndecided }) => isUndecided);
  if (open.length === 0) return [];
  const kinds = open.map(({ kind: { kind } }) => kind).join(', ');
  const why = filled(preflightTexts.undecided, { kinds });
  const required = session.required(source, provider);
  return [{ what, why, next: preflightTexts.checkAuthorizer, ...(required && { required }) }];
}

async function reviewOf(
  session: Session,
  { provider, namespace }: TargetCluster,
  kind: ChartKind,
): Promise<Review> {
  const client = await session.client(provider);
  const { group, plural: resource, namespaced, verbs } = kind;
  const where = namespaced ? { namespace } : {};
  const answers = await Promise.all(
    verbs.map((verb) =>
      client.mayI({ verb, group, resource, ...where }, { signal: session.signal }),
    ),
  );
  return {
    kind,
    denied: verbs.filter((_, at) => answers[at] === 'no'),
    isUndecided: answers.includes('undecided'),
  };
}

function finding(
  { name, namespace }: TargetCluster,
  { kind: { kind, namespaced }, denied }: Review,
) {
  const where = namespaced ? `namespace ${namespace}` : 'the cluster';
  const evidence = filled(preflightTexts.mayNot, { verbs: denied.join(', '), kind, where });
  const next = nextFor('InstallRightMissing', {});
  return error(`${name}/${kind}`, 'InstallRightMissing', evidence, next);
}
