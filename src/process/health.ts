/** Answers undefined when all is well, otherwise why not and what to do. */
export type Check = () => string | undefined;

export interface HealthReport {
  readonly ok: boolean;
  /** Name of each check that is not well, with what it says. */
  readonly failing: Readonly<Record<string, string>>;
}

/** What a process says about itself on /healthz and /readyz. */
export interface Health {
  /** Not live: the process cannot recover by itself and should be restarted. */
  live(name: string, check: Check): void;
  /** Not ready: the process works on it and should get no traffic meanwhile. */
  ready(name: string, check: Check): void;
  liveness(): HealthReport;
  readiness(): HealthReport;
}

/** Makes an empty health: live and ready until a check says otherwise. */
export function createHealth(): Health {
  const live = new Map<string, Check>();
  const ready = new Map<string, Check>();
  return {
    live: (name, check) => void live.set(name, check),
    ready: (name, check) => void ready.set(name, check),
    liveness: () => report(live),
    readiness: () => report(new Map([...live, ...ready])),
  };
}

function report(checks: ReadonlyMap<string, Check>): HealthReport {
  const failing: Record<string, string> = {};
  for (const [name, check] of checks) {
    const why = check();
    if (why !== undefined) failing[name] = why;
  }
  return { ok: Object.keys(failing).length === 0, failing };
}
