import type { Mutant } from '../mutant.ts';

const viola = (...names: string[]) =>
  ['unit', ...names.map((name) => `src/viola/${name}.test.ts`)] as const;
const table = ['unit', 'test/contract/http/authorisation.test.ts'] as const;

export const violaMutants: readonly Mutant[] = [
  {
    file: 'src/viola/admit.ts',
    find: 'authorize(grants, authorization, { provider, verb });',
    replace:
      "verb === 'read' ? identify(grants, authorization) : authorize(grants, authorization, { provider, verb });",
    tests: table,
  },
  {
    file: 'src/viola/routes.ts',
    find: "delete: admitTo(deps, 'delete'),",
    replace: "delete: admitTo(deps, 'write'),",
    tests: table,
  },
  {
    file: 'src/viola/routes.ts',
    find: "providers.includes('*') || providers.includes(id);",
    replace: 'providers.length > 0 || id.length > 0;',
    tests: table,
  },
  {
    file: 'src/viola/post-nodes.ts',
    find: 'silence ??= (await answers(cluster, options, inTime)) ? undefined : one.error;',
    replace: 'silence ??= one.error;',
    tests: viola('post-nodes', 'cluster-in-trouble'),
  },
  {
    file: 'src/viola/post-nodes.ts',
    find: 'if (silence) return refused({ ...silence, nodeName: nameOf(raw) });',
    replace: '',
    tests: viola('post-nodes', 'cluster-in-trouble'),
  },
  {
    file: 'src/viola/node-config.ts',
    find: 'owner === providerId ||',
    replace: 'owner !== providerId ||',
    tests: viola('routes'),
  },
  {
    file: 'src/viola/read-nodes.ts',
    find: 'if (object && isOf(providerId, object) && nodeNameOf(object) === nodeName.trim()) {',
    replace: 'if (object && isOf(providerId, object)) {',
    tests: viola('routes'),
  },
  {
    file: 'src/viola/judge-write.ts',
    find: 'if (metadata.deletionTimestamp || !isSameJson(spec',
    replace: 'if (!isSameJson(spec',
    tests: viola('delete-node'),
  },
  {
    file: 'src/viola/judge-write.ts',
    find: 'if (obstacle && (!refusal || base === null)) return { nodeName, ...obstacle };',
    replace: '',
    tests: viola('post-nodes', 'cluster-in-trouble'),
  },
  {
    file: 'src/viola/answer-cache.ts',
    find: 'if (this.#entries.get(key) === entry) this.#entries.delete(key);',
    replace: '',
    tests: viola('routes'),
  },
  {
    file: 'src/viola/write-node.ts',
    find: 'if (!mayTakeOver(error, live, takeOver)) throw error;',
    replace: '',
    tests: viola('post-nodes', 'cluster-in-trouble'),
  },
  {
    file: 'src/viola/clusters.ts',
    find: 'if (held.users === 0) void closeOf(held);',
    replace: 'void closeOf(held);',
    tests: viola('clusters'),
  },
  {
    file: 'src/viola/clusters.ts',
    find: "this.#listed() ? 'unknown' : 'unread'",
    replace: "'unknown'",
    tests: viola('clusters', 'start'),
  },
  {
    file: 'src/viola/held-node.ts',
    find: ".refine(({ name, id }) => name !== undefined || id !== undefined, 'names no NIC');",
    replace: ';',
    tests: viola('held-node'),
  },
  {
    file: 'src/viola/cluster-secret.ts',
    find: "if (protocol === 'https:' || token === undefined || isLoopback(hostname)) return;",
    replace: "if (protocol !== 'ftp:') return;",
    tests: viola('cluster-secret'),
  },
  {
    file: 'src/viola/delete-node.ts',
    find: 'leaving ? otherThan(live, base) : refusalOf(live, base, options)',
    replace: 'leaving ? undefined : refusalOf(live, base, options)',
    tests: viola('delete-node'),
  },
  {
    file: 'src/viola/post-route.ts',
    find: ').finally(() => cache.forget(provider)); // also when the caller left halfway',
    replace: ');\n      cache.forget(provider);',
    tests: viola('callers'),
  },
  {
    file: 'src/viola/read-nodes.ts',
    find: 'const page = await withDeadline({ clock, ms: readWithinMs }, (signal) =>',
    replace: 'const page = await withDeadline({ clock, ms: 90_000 }, (signal) =>',
    tests: viola('read-nodes'),
  },
  {
    file: 'src/viola/write-limit.ts',
    find: 'if (ms <= 0) throw new DeadlineReached(writeWithinMs);',
    replace: '',
    tests: viola('late-writes'),
  },
  {
    file: 'src/viola/write-limit.ts',
    find: 'work({ signal: limited, perform: performInTime }),',
    replace: 'work({ signal: limited, perform }),',
    tests: viola('late-writes'),
  },
  {
    file: 'src/viola/write-node.ts',
    find: 'if (lastTry || !(await hasMoved(error))) throw error;',
    replace: 'if (!(await hasMoved(error))) throw error;',
    tests: viola('write-node'),
  },
  {
    file: 'src/viola/write-node.ts',
    find: 'return now?.metadata.resourceVersion !== live?.metadata.resourceVersion;',
    replace: 'return now !== undefined;',
    tests: viola('write-node'),
  },
  {
    file: 'src/viola/write-node.ts',
    find: 'if (!isFieldConflict(error)) return isMoved(error);',
    replace: 'if (!isFieldConflict(error)) return false;',
    tests: viola('write-node'),
  },
  {
    file: 'src/viola/answer-cache.ts',
    find: 'if (now - readAt >= this.#keepMs) this.#entries.delete(key);',
    replace: 'if (readAt > now) this.#entries.delete(key);',
    tests: viola('answer-cache'),
  },
  {
    file: 'src/viola/delete-node.ts',
    find: '...(resourceVersion ? { resourceVersion } : {}),',
    replace: '...(resourceVersion === undefined ? { resourceVersion } : {}),',
    tests: viola('delete-node'),
  },
  {
    file: 'src/viola/node-config.ts',
    find: 'return textsOf(object).nodeName || object.metadata.name;',
    replace: 'return textsOf(object).nodeName;',
    tests: viola('routes'),
  },
  {
    file: 'src/viola/judge-write.ts',
    find: "if (live && holds(live, node, refusal !== undefined)) return 'unchanged';",
    replace: "if (live && holds(live, node, false)) return 'unchanged';",
    tests: viola('post-nodes', 'cluster-in-trouble'),
  },
  {
    file: 'src/viola/delete-node.ts',
    find: 'if (consents) return resourceVersion;',
    replace: '',
    tests: viola('delete-node'),
  },
  {
    file: 'src/viola/delete-node.ts',
    find: 'consentsTo(metadata, clock.now(), ownMs)',
    replace: 'consentsTo(metadata, clock.now())',
    tests: viola('delete-node'),
  },
  {
    file: 'src/api/delete-consent.ts',
    find: 'givenMs >= at.getTime() - withinMs;',
    replace: 'givenMs >= 0;',
    tests: ['unit', 'src/api/delete-consent.test.ts'],
  },
  {
    file: 'src/viola/delete-node.ts',
    find: '      resourceVersion,\n      annotations',
    replace: '      annotations',
    tests: viola('delete-node'),
  },
  {
    file: 'src/viola/delete-node.ts',
    find: 'if (!isMoved(error) && !isAbsent(error)) throw error;',
    replace: 'if (!isMoved(error)) throw error;',
    tests: viola('delete-node'),
  },
  {
    file: 'src/viola/field-conflict.ts',
    find: 'return causes.every(({ message }) =>',
    replace: 'return causes.some(({ message }) =>',
    tests: viola('post-nodes', 'cluster-in-trouble'),
  },
  {
    file: 'src/viola/legacy-listener.ts',
    find: "const address = socket.remoteAddress ?? 'unknown';",
    replace: "const address = String(headers['x-forwarded-for'] ?? socket.remoteAddress);",
    tests: viola('legacy-listener'),
  },
  {
    file: 'src/viola/legacy-listener.ts',
    find: 'readsResults: false',
    replace: 'readsResults: true',
    tests: viola('legacy-listener'),
  },
  {
    file: 'src/viola/legacy-listener.ts',
    find: 'if (legacyListener.port === listen.port && listen.port !== 0) {',
    replace: 'if (legacyListener === listen) {',
    tests: viola('legacy-listener'),
  },
  {
    file: 'src/viola/legacy-listener.ts',
    find: '    await clusters.use(provider, async (lookup) => usable(provider, lookup));\n',
    replace: '',
    tests: viola('legacy-listener'),
  },
  {
    file: 'src/viola/tell-legacy.ts',
    find: 'recorder.record(',
    replace: 'void (',
    tests: viola('legacy-listener'),
  },
  {
    file: 'src/viola/start.ts',
    find: 'legacy && { conditions: [legacyCondition(legacy)] }',
    replace: 'legacy && {}',
    tests: viola('legacy-listener'),
  },
];
