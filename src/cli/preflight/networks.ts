import { preflightTexts } from '../../api/texts/preflight.ts';
import { filled } from '../../api/texts/text.ts';
import type { SectionReport } from '../../explain/finding.ts';
import { info, onFact, reportOf } from '../../explain/sections/check.ts';
import type { Session } from '../../session/access/session.ts';
import { readClusterNetworks } from '../../session/facts/cluster-networks.ts';

/** Examines whether each business cluster names its networks: agents refuse NICs that overlap them. */
export async function examineNetworks(
  session: Session,
  providers: readonly string[],
): Promise<SectionReport> {
  const facts = await Promise.all(
    providers.map(async (provider) => ({
      provider,
      fact: await readClusterNetworks(session, provider),
    })),
  );
  const known = facts.flatMap(({ fact }) => (fact.state === 'read' ? fact.value : []));
  const networks = [...new Set(known.map(({ cidr }) => cidr))].join(', ') || '-';
  const checked = facts.map(({ provider, fact }) =>
    onFact(fact, (found) => ({
      findings:
        found.length > 0 ? [] : [info(provider, 'NetworkUnread', preflightTexts.networksUnknown)],
      checks: 1,
    })),
  );
  return reportOf('clusterNetworks', filled(preflightTexts.networksKnown, { networks }), checked);
}
