import type { Adoption } from '../api/found-configuration.ts';
import type { NicView, NodeView } from '../api/read-http.ts';
import { existingNicsTexts } from '../api/texts/existing-nics.ts';
import { amount, filled, type Wording } from '../api/texts/text.ts';
import { patchSettings, planSettings } from './commands.ts';
import type { NextStep } from './step.ts';
import { isObserved } from './subject.ts';

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
  readonly node: Pick<NodeView, 'config' | 'existingConfiguration' | 'state'>;
  readonly nic: Pick<NicView, 'found'>;
}

/**
 * Returns how the user consents to the adoption; undefined: no NIC is adoptable, or the nodes have the consent.
 * In mode Observe the consent alone has no effect.
 */
export function adoptStep(nics: readonly NicOnNode[]): NextStep | undefined {
  const adoptable = nics.filter(
    ({ node, nic }) =>
      isAdoptable(nic) && (isObserved(node) || node.existingConfiguration !== 'Adopt'),
  );
  const observed = adoptable.flatMap(({ node }) => (isObserved(node) ? [node.config] : []));
  const configs = [...new Set(adoptable.map(({ node }) => node.config))].map((key) =>
    observed.includes(key)
      ? ([key, { mode: 'Apply', ...adopt }] as const)
      : ([key, adopt] as const),
  );
  if (configs.length === 0) return undefined;
  const text = observed.length > 0 ? existingNicsTexts.adoptObserved : existingNicsTexts.adoptStep;
  return {
    text: filled(text, { count: adoptable.length, nics: amount(nics.length, 'NIC') }),
    commands: configs.map(([key, settings]) => patchSettings(key, settings)),
    preview: configs.map(([key, settings]) => planSettings(key, settings)),
  };
}

const adopt = { existingConfiguration: 'Adopt' } as const;

function isRefusal(text: string): text is Refusal {
  return Object.hasOwn(refusals, text);
}
