import { type Alert, type Chart, charts, type Language } from './alert.ts';
import { alerts } from './alerts.ts';

const words = {
  en: {
    other: '한국어',
    meaning: 'Meaning',
    impact: 'Impact',
    diagnosis: 'Diagnosis',
    fix: 'Fix',
    rule: 'Rule',
    holds: 'for',
    index: 'Runbooks',
    about:
      'One page for each alert of the charts. Replace `NAME`, `NODE` and similar placeholders with the object of the alert; namespaces and names are the defaults of the charts.',
    columns: ['Alert', 'Severity', 'Chart', 'Summary'],
  },
  ko: {
    other: 'English',
    meaning: '의미',
    impact: '영향',
    diagnosis: '진단',
    fix: '조치',
    rule: '규칙',
    holds: '지속 시간',
    index: '런북',
    about:
      '차트의 알림마다 한 페이지가 있습니다. `NAME`, `NODE` 등은 알림 대상으로 바꾸어 입력하십시오. 네임스페이스와 이름은 차트의 기본값입니다.',
    columns: ['알림', '심각도', '차트', '내용'],
  },
} as const;

/** Returns the runbook of one alert. */
export function runbookOf(name: string, alert: Alert, language: Language): string {
  const text = words[language];
  const steps = alert.diagnosis.map(({ say, run }, at) => {
    const said = `${at + 1}. ${say[language]}`;
    return run === undefined ? said : `${said}\n\n   \`\`\`\n   ${run}\n   \`\`\``;
  });
  const fixes = alert.fix.map((fix) => `- ${fix[language]}`);
  const rules = chartsOf(alert).map(
    (chart) => `\`${chart}\`\n\n\`\`\`promql\n${alert.exprs[chart] ?? ''}\n\`\`\``,
  );
  return [
    `# ${name}`,
    `\`${alert.severity}\` · ${text.holds} ${alert.for} · [${text.other}](${fileOf(name, otherThan(language))})`,
    `> ${alert.summary.replaceAll(label, '`$1`')}`,
    `## ${text.meaning}\n\n${alert.meaning[language]}`,
    `## ${text.impact}\n\n${alert.impact[language]}`,
    `## ${text.diagnosis}\n\n${steps.join('\n\n')}`,
    `## ${text.fix}\n\n${fixes.join('\n')}`,
    `## ${text.rule}\n\n${rules.join('\n\n')}\n`,
  ].join('\n\n');
}

/** Returns the index of all runbooks. */
export function runbookIndex(language: Language): string {
  const text = words[language];
  const rows = Object.entries<Alert>(alerts)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, alert]) => [
      `[${name}](${fileOf(name, language)})`,
      alert.severity,
      chartsOf(alert).join(', '),
      (language === 'en' ? alert.summary : alert.meaning.ko).replaceAll(label, '`$1`'),
    ]);
  const table = [text.columns, text.columns.map(() => '---'), ...rows];
  const lines = table.map((cells) => `| ${cells.join(' | ')} |`);
  return `# ${text.index}\n\n${text.about}\n\n${lines.join('\n')}\n`;
}

export function fileOf(name: string, language: Language): string {
  return language === 'en' ? `${name}.md` : `${name}.${language}.md`;
}

/** Template for a label in an annotation. */
const label = /\{\{ \$labels\.(\w+) \}\}/g;

function otherThan(language: Language): Language {
  return language === 'en' ? 'ko' : 'en';
}

function chartsOf({ exprs }: Alert): readonly Chart[] {
  return charts.filter((chart) => exprs[chart] !== undefined);
}
