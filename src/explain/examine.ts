import type { SystemFacts } from './facts.ts';
import { type SectionReport, sections } from './finding.ts';

/** Examines the whole system; returns one report per name in `sections`, in that order, errors first. */
export function examine(_facts: SystemFacts): SectionReport[] {
  return sections.map((section) => ({
    section,
    summary: { en: 'not examined yet', ko: '아직 검사하지 않습니다' },
    findings: [],
    skipped: [],
    checks: 0,
  }));
}
