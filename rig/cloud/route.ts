import type { ServiceName } from './failures.ts';

export interface ServedRequest {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** Parsed JSON, or undefined without a body. */
  readonly body: unknown;
  /** `http://host:port` as the client wrote it. */
  readonly origin: string;
  /** Path and query as the client wrote them. */
  readonly target: string;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface Route {
  readonly service: ServiceName;
  readonly method: string;
  /** `/v2.0/ports/{id}`: below the service's prefix. */
  readonly path: string;
  /** The query keys that are served. */
  readonly query?: readonly string[];
  readonly handle: (request: ServedRequest) => Reply | Promise<Reply>;
}

export interface Match {
  readonly route: Route;
  readonly params: Readonly<Record<string, string>>;
}

/** The routes that are served, and which of them and of their query keys were used. */
export class Routes {
  readonly #routes: readonly Route[];
  readonly #exercised = new Set<string>();

  constructor(routes: readonly Route[]) {
    this.#routes = routes;
  }

  /** The route of a request; it counts as exercised. */
  match(service: ServiceName, method: string, path: string): Match | undefined {
    for (const route of this.#routes) {
      if (route.service !== service || route.method !== method) continue;
      const params = paramsOf(route.path, path);
      if (params === undefined) continue;
      this.#exercised.add(nameOf(route));
      return { route, params };
    }
    return undefined;
  }

  /** Notes that a query key was used. */
  used(route: Route, key: string): void {
    this.#exercised.add(`${nameOf(route)}?${key}`);
  }

  /** Everything that is served: `service METHOD path` and `service METHOD path?key`. */
  get served(): readonly string[] {
    return this.#routes.flatMap((route) => [
      nameOf(route),
      ...(route.query ?? []).map((key) => `${nameOf(route)}?${key}`),
    ]);
  }

  get exercised(): ReadonlySet<string> {
    return this.#exercised;
  }
}

function nameOf(route: Route): string {
  return `${route.service} ${route.method} ${route.path}`;
}

function paramsOf(pattern: string, path: string): Record<string, string> | undefined {
  const wanted = pattern.split('/');
  const given = path.split('/');
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [index, part] of wanted.entries()) {
    const value = given[index] ?? '';
    if (part.startsWith('{')) params[part.slice(1, -1)] = decodeURIComponent(value);
    else if (part !== value) return undefined;
  }
  return params;
}
