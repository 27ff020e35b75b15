import { namedSome, namedSomeInKorean } from '../../api/named-some.ts';
import { migrateTexts } from '../../api/texts/migrate.ts';
import { amount, filled, type Language } from '../../api/texts/text.ts';
import type { Applied } from './apply.ts';
import type { Reverted } from './back.ts';
import { type Source, shownNodes, sourceText } from './source.ts';

/** Questions before a change. */
export const questions = {
  apply: (source: Source, lang: Language) =>
    filled(migrateTexts.mayMigrate, { source: sourceText(source) })[lang],
  back: (source: Source, lang: Language) =>
    filled(migrateTexts.mayGoBack, { source: sourceText(source) })[lang],
};

export function notMigratedText(source: Source, lang: Language): string {
  return filled(migrateTexts.notMigrated, { source: sourceText(source) })[lang];
}

export function appliedText(
  { created, released, existing, refused }: Applied,
  lang: Language,
): string {
  const counts = {
    created: amount(created.length, 'object'),
    released: amount(released.length, 'object'),
  };
  return [
    filled(migrateTexts.applied, counts),
    ...existing.map((node) => filled(migrateTexts.createdElsewhere, { node })),
    ...refused.map(({ node, message }) => filled(migrateTexts.objectRefused, { node, message })),
    // OpenstackConfigs take over objects without source only with this setting.
    migrateTexts.takeOver,
  ]
    .map((line) => line[lang])
    .join('\n');
}

/** Returns the warning before `back`; `nodes` differ from their entries, or have none. */
export function changingText(source: Source, nodes: readonly string[], lang: Language): string {
  return filled(migrateTexts.changesNodes, {
    differ: amount(nodes.length, 'node differs', 'nodes differ'),
    source: sourceText(source),
    nodes: { en: namedSome(nodes, shownNodes), ko: namedSomeInKorean(nodes, shownNodes) },
  })[lang];
}

export function revertText(
  source: Source,
  { restored, left, isFollowed }: Reverted,
  lang: Language,
): string {
  const next = isFollowed ? migrateTexts.followed : migrateTexts.notConfirmed;
  return [
    ...left.map(({ node, writer }) => filled(migrateTexts.writtenSince, { node, writer })),
    filled(migrateTexts.restored, {
      objects: amount(restored.length, 'object'),
      source: sourceText(source),
      next,
    }),
  ]
    .map((line) => line[lang])
    .join('\n');
}

/** Returns the steps after `apply`, in order. */
export function nextStepsText(source: Source, lang: Language): string {
  const { name, namespace } = source.config.metadata;
  const resource = `multinicbizconfigs.${source.group}`;
  const flags = `${name} -n ${namespace} --group ${source.group}`;
  const command = `kubectl -n ${namespace} delete ${resource} ${name}`;
  return filled(migrateTexts.steps, { flags, command })[lang];
}
