/** Returns undefined when healthy, otherwise the problem and advice. */
type Check = () => string | undefined;

interface HealthReport {
  readonly ok: boolean;
  /** Failing checks by name, each with its message. */
  readonly failing: Readonly<Record<string, string>>;
}

/** Process health for /healthz and /readyz. */
export interface Health {
  /** Adds a liveness check. Not live: the process cannot recover and needs a restart. */
  live(name: string, check: Check): void;
  /** Adds a readiness check. Not ready: the process recovers by itself and must get no traffic meanwhile. */
  ready(name: string, check: Check): void;
  liveness(): HealthReport;
  readiness(): HealthReport;
}

/** Creates a health without checks: live and ready. */
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
