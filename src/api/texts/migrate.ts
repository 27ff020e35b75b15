import type { Wording } from './text.ts';

/** Texts for `multinic migrate biz-config`. */
export const migrateTexts = {
  verified: {
    en: '{sourceText}: {holding} of {length} nodes verified.',
    ko: '{sourceText}: 노드 {length}개 중 {holding}개를 확인했습니다.',
  },
  skipped: {
    en: 'Skipped',
    ko: '생략',
  },
  mayMigrate: {
    en: 'Migrate {sourceText}?',
    ko: '{sourceText}를 마이그레이션할까요?',
  },
  mayGoBack: {
    en: 'Let {sourceText} control its nodes again?',
    ko: '{sourceText}가 노드를 다시 제어하게 할까요?',
  },
  notMigrated: {
    en: '{sourceText} is not migrated: there is nothing to do.',
    ko: '{sourceText}는 마이그레이션되지 않았습니다. 할 일이 없습니다.',
  },
} as const satisfies Readonly<Record<string, Wording>>;
