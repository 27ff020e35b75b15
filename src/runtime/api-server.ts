import type { metricTable } from '../api/metrics.ts';
import type { AnsweredRequest } from '../http/access-log.ts';
import type { HttpServer } from '../http/app.ts';
import {
  type Certificate,
  type CertificateFiles,
  endOf,
  followCertificate,
  readCertificate,
} from '../http/certificate.ts';
import { createHttpServer, type HttpServerOptions, listen } from '../http/server.ts';
import type { PartContext } from '../process/part.ts';
import { aborted } from '../time/aborted.ts';

type Context = PartContext<typeof metricTable>;

interface ApiServerOptions extends Pick<HttpServerOptions, 'title' | 'bodyLimit' | 'guardsHost'> {
  /** Server in the metrics of requests; undefined: requests are not counted, for health and metrics only. */
  readonly name?: string;
  readonly address: { readonly host: string; readonly port: number };
  /** Certificate to serve; undefined: plain HTTP. */
  readonly files?: CertificateFiles | undefined;
  /** Called with the certificate in use, at the start and after each renewal; `endsAt`: its expiry. */
  readonly onCertificate?: (endsAt: Date) => void;
}

/** An HTTP server of a part: health, metrics and documentation, and the routes that the part adds to `app`. */
export class ApiServer implements AsyncDisposable {
  readonly app: HttpServer;
  readonly #options: ApiServerOptions;
  readonly #context: Context;
  readonly #first: Certificate | undefined;

  private constructor(
    app: HttpServer,
    options: ApiServerOptions,
    context: Context,
    first: Certificate | undefined,
  ) {
    this.app = app;
    this.#options = options;
    this.#context = context;
    this.#first = first;
  }

  /** Creates the server without listening. Throws UnusableSettingError for an unusable certificate. */
  static async open(options: ApiServerOptions, context: Context): Promise<ApiServer> {
    const { clock, log, health, metrics, about } = context;
    const { name, address: _, files, onCertificate: __, ...http } = options;
    const tls = files && (await readCertificate(files));
    const app = await createHttpServer({
      ...http,
      clock,
      log,
      health,
      registry: metrics.registry,
      about,
      ...(tls ? { tls } : {}),
      ...(name === undefined ? {} : { onAnswer: countAnswers(metrics, name) }),
    });
    return new ApiServer(app, options, context, tls);
  }

  /** Listens until the signal aborts; resolves to the URL. */
  async listen(signal: AbortSignal): Promise<string> {
    return (await listen(this.app, this.#options.address, signal)).url;
  }

  /** Serves renewed certificates until the signal aborts. */
  async followCertificate(signal: AbortSignal): Promise<void> {
    const { files, onCertificate } = this.#options;
    if (!files || !this.#first) return aborted(signal);
    const { clock, log } = this.#context;
    const onUse = (certificate: Certificate): void => onCertificate?.(endOf(certificate));
    await followCertificate(this.app, files, { first: this.#first, clock, log, onUse }, signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.app.close();
  }
}

/** Counts and times a server's answers. */
export function countAnswers(metrics: Context['metrics'], server: string) {
  return ({ method, route, status, seconds }: AnsweredRequest): void => {
    const answered = { server, method, route };
    metrics.count('multinic_http_requests_total', { ...answered, status: String(status) });
    metrics.observe('multinic_http_request_duration_seconds', answered, seconds);
  };
}
