/** Chart that installs the alert. */
export type Chart = 'multinic-operator' | 'multinic-agent';

export const charts: readonly Chart[] = ['multinic-operator', 'multinic-agent'];

export const languages = ['en', 'ko'] as const;

export type Language = (typeof languages)[number];

type Text = Readonly<Record<Language, string>>;

/** Diagnosis step: a text and the command to run. */
export interface Inspection {
  readonly say: Text;
  readonly run?: string;
}

/** Alert: Prometheus rule and runbook. */
export interface Alert {
  /** PromQL for each chart that has the alert. */
  readonly exprs: Readonly<Partial<Record<Chart, string>>>;
  /** Prometheus duration for which `exprs` must hold before the alert fires. */
  readonly for: string;
  /** critical: act at once, also at night; warning: act today; info: for information. */
  readonly severity: 'critical' | 'warning' | 'info';
  readonly summary: string;
  /** Summary and description may use labels of the result: `{{ $labels.reason }}`. */
  readonly description: string;
  readonly meaning: Text;
  readonly impact: Text;
  readonly diagnosis: readonly Inspection[];
  readonly fix: readonly Text[];
}

export type Alerts = Readonly<Record<string, Alert>>;
