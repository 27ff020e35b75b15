/** The chart that an alert comes with; its parts are what the alert is about. */
export type Chart = 'multinic-operator' | 'multinic-agent';

export const charts: readonly Chart[] = ['multinic-operator', 'multinic-agent'];

export const languages = ['en', 'ko'] as const;

export type Language = (typeof languages)[number];

export type Text = Readonly<Record<Language, string>>;

/** One step of a diagnosis: what it tells, and the command that shows it. */
export interface Inspection {
  readonly say: Text;
  readonly run?: string;
}

/** One alert: what Prometheus is told, and what whoever is called by it reads. */
export interface Alert {
  /** PromQL for each chart that has the alert. */
  readonly exprs: Readonly<Partial<Record<Chart, string>>>;
  /** How long it must hold, as Prometheus writes durations. */
  readonly for: string;
  /** critical: somebody is called at night; warning: somebody looks today; info: somebody should know. */
  readonly severity: 'critical' | 'warning' | 'info';
  readonly summary: string;
  /** Both may name labels of the result: `{{ $labels.reason }}`. */
  readonly description: string;
  readonly meaning: Text;
  readonly impact: Text;
  readonly diagnosis: readonly Inspection[];
  readonly fix: readonly Text[];
}

export type Alerts = Readonly<Record<string, Alert>>;
