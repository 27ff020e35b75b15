import type { Adoption } from '../api/found-configuration.ts';
import type { NicView, NodeView } from '../api/read-http.ts';
import { existingNicsTexts } from '../api/texts/existing-nics.ts';
import { amount, filled, type Wording } from '../api/texts/text.ts';
import { adoptCommand, multinic } from './commands.ts';
import type { NextStep } from './step.ts';

type Refusal = Exclude<Adoption, 'Now' | 'AtBoot'>;

const refusals: Readonly<Record<Refusal, Wording>> = {
  NodeLink: existingNicsTexts.whyNodeLink,
  OtherLinksToo: existingNicsTexts.whyOtherLinksToo,
  FileWins: existingNicsTexts.whyFileWins,
  CannotParse: existingNicsTexts.whyCannotParse,
  OnlyNameServers: existingNicsTexts.whyOnlyNameServers,
  LinkInUse: existingNicsTexts.whyLinkInUse,
  TurnedOff: existingNicsTexts.whyTurnedOff,
  NotFromFile: existingNicsTexts.whyNotFromFile,
};

/** True if consent would let an agent take over the NIC's configuration, now or at the next boot. */
function isAdoptable({ found }: Pick<NicView, 'found'>): boolean {
  return found?.adoption === 'Now' || found?.adoption === 'AtBoot';
}

/** Returns what consent does to the NIC's configuration; undefined: unknown, such as from an earlier agent. */
export function adoptionText({ found }: Pick<NicView, 'found'>): Wording | undefined {
  const { adoption } = found ?? {};
  if (adoption === undefined) return undefined;
  if (adoption === 'Now') return existingNicsTexts.adoptNow;
  if (adoption === 'AtBoot') return existingNicsTexts.adoptAtBoot;
  // A later agent may have further reasons.
  const why = isRefusal(adoption) ? refusals[adoption] : existingNicsTexts.whyOther;
  return filled(existingNicsTexts.adoptRefused, { adoption, why });
}

interface NicOnNode {
  readonly node: Pick<NodeView, 'config' | 'existingConfiguration'>;
  readonly nic: Pick<NicView, 'found'>;
}

/** Returns how the user consents to the adoption; undefined: no NIC is adoptable, or the nodes have the consent. */
export function adoptStep(nics: readonly NicOnNode[]): NextStep | undefined {
  const adoptable = nics.filter(
    ({ node, nic }) => isAdoptable(nic) && node.existingConfiguration !== 'Adopt',
  );
  const configs = [...new Set(adoptable.map(({ node }) => node.config))];
  if (configs.length === 0) return undefined;
  const counts = { count: String(adoptable.length), nics: amount(nics.length, 'NIC') };
  return {
    text: filled(existingNicsTexts.adoptStep, counts),
    commands: configs.map(adoptCommand),
    preview: configs.map((key) => multinic('plan', key, '--set', 'existingConfiguration=Adopt')),
  };
}

function isRefusal(text: string): text is Refusal {
  return Object.hasOwn(refusals, text);
}
