import type { Mutant } from '../mutant.ts';

const kube = (...files: string[]) => ['unit', ...files.map((name) => `src/kube/${name}`)] as const;

export const kubeMutants: readonly Mutant[] = [
  {
    file: 'src/kube/cache/reflector-state.ts',
    find: 'return resourceVersion === undefined || isGone(error) || doubted',
    replace: 'return resourceVersion === undefined || doubted',
    tests: kube('cache/reflector-state.test.ts', 'cache/reflector.test.ts'),
  },
  {
    file: 'src/kube/cache/reflector.ts',
    find: 'if (!isNewer(version, reached)) return reached;',
    replace: '',
    tests: kube('cache/reflector-faults.test.ts', 'cache/reflector.property.test.ts'),
  },
  {
    file: 'src/kube/reconcile/queue.ts',
    find: 'if (this.#again.delete(key) && !this.#closed) this.#markReady(key);',
    replace: 'this.#again.delete(key);',
    tests: kube('reconcile/queue.test.ts', 'reconcile/queue.property.test.ts'),
  },
  {
    file: 'src/kube/lease/lease-lock.ts',
    find: 'return { lease: written, writtenAtMs };',
    replace: 'return { lease: written, writtenAtMs: clock.monotonicMs() };',
    tests: kube('lease/slow-server.test.ts'),
  },
  {
    file: 'src/kube/lease/lease.ts',
    find: 'const ms = Math.max(0, held.writtenAtMs + leaseDurationMs - clock.monotonicMs());',
    replace: 'const ms = 2 * leaseDurationMs;',
    tests: kube('lease/slow-server.test.ts'),
  },
  {
    file: 'src/kube/lease/lease.ts',
    find: 'tryMs: renewDeadlineMs / 2,',
    replace: 'tryMs: renewDeadlineMs,',
    tests: kube('lease/slow-server.test.ts'),
  },
  {
    file: 'src/kube/client/connector.ts',
    find: '...tlsOf(await certificates())',
    replace: '...tlsOf(access)',
    tests: kube('client/unkind-server.test.ts'),
  },
  {
    file: 'src/kube/client/transport.ts',
    find: 'const path = `${this.#prefix}${pathOf(request)}`;',
    replace: 'const path = pathOf(request);',
    tests: kube('client/unkind-server.test.ts'),
  },
  {
    file: 'src/kube/client/wire.ts',
    find: 'Math.min(askedMs, longestRetryAfterMs)',
    replace: 'askedMs',
    tests: kube('client/unkind-server.test.ts'),
  },
  {
    file: 'src/kube/cache/store.ts',
    find: 'if (outdated(key, listVersion) || this.holds(object)) return;',
    replace: 'if (this.holds(object)) return;',
    tests: kube('cache/store.test.ts'),
  },
  {
    file: 'src/kube/cache/store.ts',
    find: 'if (seen.has(key) || outdated(key, listVersion)) continue;',
    replace: 'if (seen.has(key)) continue;',
    tests: kube('cache/store.test.ts', 'cache/reflector-lists.test.ts'),
  },
  {
    file: 'src/kube/cache/reading.ts',
    find: 'if (isKnown(read)) return { metadata, known: true };',
    replace: '',
    tests: kube('cache/reflector-lists.test.ts'),
  },
  {
    file: 'src/kube/reconcile/together.ts',
    find: 'if (!children.signal.aborted) throw',
    replace: 'if (children === undefined) throw',
    tests: kube('reconcile/together.test.ts'),
  },
  {
    file: 'src/kube/client/connector.ts',
    find: '.catch((cause: unknown) => callback(unusable(cause), null));',
    replace: '.catch(() => undefined);',
    tests: kube('client/unkind-server.test.ts'),
  },
  {
    file: 'src/kube/access/kubeconfig.ts',
    find: "if (text.trim() === '') throw new Error(`${path} is empty`);",
    replace: '',
    tests: kube('client/unkind-server.test.ts'),
  },
  {
    file: 'src/kube/lease/lease-record.ts',
    find: 'if (!lease && before) return before;',
    replace: '',
    tests: kube('lease/lease.test.ts'),
  },
  {
    file: 'src/kube/lease/lease.ts',
    find: 'if (signal.aborted) return release(held);',
    replace: 'if (signal.aborted) return;',
    tests: kube('lease/lease.test.ts'),
  },
  {
    file: 'src/kube/lease/lease.ts',
    find: 'if (!(error instanceof StillRunning)) await release(held);',
    replace: 'await release(held);',
    tests: kube('lease/lease.test.ts'),
  },
  {
    file: 'src/kube/lease/lease-lock.ts',
    find: 'if (!isConflict(error) && !isNotFound(error)) throw error;',
    replace: 'if (!isConflict(error)) throw error;',
    tests: kube('lease/lease.test.ts'),
  },
  {
    file: 'src/kube/cache/reflector-state.ts',
    find: "if (state.name === 'listing' && state.resumeFrom !== undefined) {",
    replace: "if (state.name === 'watching') {",
    tests: kube('cache/reflector-state.test.ts', 'cache/reflector-faults.test.ts'),
  },
  {
    file: 'src/kube/reconcile/controller.ts',
    find: 'done.catch(failed.reject);',
    replace: 'done.catch(() => undefined);',
    tests: kube('reconcile/controller.test.ts'),
  },
  {
    file: 'src/kube/events.ts',
    find: 'if (!isAlreadyExists(error)) throw error;',
    replace: 'throw error;',
    tests: kube('events.test.ts'),
  },
  {
    file: 'src/kube/events.ts',
    find: 'if (leading.reason instanceof LeaseLostError) end(leading.reason);',
    replace: '',
    tests: kube('events.test.ts'),
  },
  {
    file: 'src/kube/events.ts',
    find: 'if (!term || term.over.signal.aborted) return;',
    replace: 'if (!term) return;',
    tests: kube('events.test.ts'),
  },
  {
    file: 'src/kube/lease/lease-client.ts',
    find: 'timeoutMs: leaseDurationMs / 3',
    replace: 'timeoutMs: leaseDurationMs',
    tests: kube('lease/lease-client.test.ts'),
  },
  {
    file: 'src/kube/client/transport.ts',
    find: 'Math.min(connectTimeoutMs, timeoutMs)',
    replace: 'connectTimeoutMs',
    tests: kube('client/transport.test.ts'),
  },
  {
    file: 'src/kube/access/in-cluster.ts',
    find: '    certificates,\n    namespace',
    replace: '    namespace',
    tests: kube('access/kubeconfig.test.ts'),
  },
  {
    file: 'src/kube/client/reads.ts',
    find: "if (isNotFound(error) && error.reason === 'NotFound') return undefined;",
    replace: 'if (isNotFound(error)) return undefined;',
    tests: ['unit', 'src/kube/client/unkind-server.test.ts'],
  },
];
