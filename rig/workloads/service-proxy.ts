import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Service as ServiceV1 } from 'kubernetes-types/core/v1.js';
import type { KubeClient } from '../../src/kube/client/client.ts';
import type { KubeObject } from '../../src/kube/object.ts';
import { defineResource } from '../../src/kube/resource.ts';

type Service = Omit<ServiceV1, keyof KubeObject> & KubeObject;

const services = defineResource<Service>({
  group: '',
  version: 'v1',
  plural: 'services',
  kind: 'Service',
  namespaced: true,
});

/** Where a Pod with these labels serves a port of its container, on loopback; undefined while none is ready. */
export type FindPod = (
  namespace: string,
  selector: Readonly<Record<string, string>>,
  port: string | number,
) => number | undefined;

const serviceHost = /^([a-z0-9-]+)\.([a-z0-9-]+)(?:\.svc(?:\.cluster\.local)?)?$/;

/** What cluster DNS and kube-proxy are for Pods: a port of loopback for each port of a Service that somebody names. */
export class ServiceProxy implements AsyncDisposable {
  readonly #client: Pick<KubeClient, 'find'>;
  readonly #findPod: FindPod;
  readonly #listeners = new Map<string, Promise<Server>>();
  readonly #sockets = new Set<Socket>();

  constructor(client: Pick<KubeClient, 'find'>, findPod: FindPod) {
    this.#client = client;
    this.#findPod = findPod;
  }

  /** The same URL on loopback when it names a Service; anything else stays as it is. */
  async localUrl(text: string): Promise<string> {
    if (!/^https?:\/\//.test(text) || !URL.canParse(text)) return text;
    const url = new URL(text);
    const [, name, namespace] = serviceHost.exec(url.hostname) ?? [];
    if (name === undefined || namespace === undefined) return text;
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    const key = `${namespace}/${name}:${port}`;
    const listening = this.#listeners.get(key) ?? this.#listen(namespace, name, port);
    this.#listeners.set(key, listening);
    const { port: local } = (await listening).address() as { port: number };
    return `${url.protocol}//127.0.0.1:${local}${url.pathname === '/' ? '' : url.pathname}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    for (const listening of this.#listeners.values()) (await listening).close();
  }

  async #listen(namespace: string, name: string, port: number): Promise<Server> {
    const server = createServer((caller) => {
      this.#keep(caller);
      void this.#target(namespace, name, port).then(
        (target) => {
          if (target === undefined) return caller.destroy();
          const called = connect(target, '127.0.0.1');
          this.#keep(called);
          caller.pipe(called).pipe(caller);
          caller.once('close', () => called.destroy());
          called.once('close', () => caller.destroy());
          return undefined;
          // Whoever calls a Service that cannot be looked up gets no answer.
        },
        () => caller.destroy(),
      );
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return server;
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.once('close', () => this.#sockets.delete(socket));
  }

  /** Asked at each connection: a Service that points elsewhere by now does so at once. */
  async #target(namespace: string, name: string, port: number): Promise<number | undefined> {
    const service = await this.#client.find(services, { namespace, name });
    const entry = service?.spec?.ports?.find((one) => one.port === port);
    if (!service?.spec?.selector || !entry) return undefined;
    return this.#findPod(namespace, service.spec.selector, entry.targetPort ?? port);
  }
}
