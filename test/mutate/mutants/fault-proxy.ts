import type { Mutant } from '../mutant.ts';

const proxy = (...names: string[]) =>
  ['unit', ...names.map((name) => `rig/fault-proxy/${name}.test.ts`)] as const;

/** A proxy that lets pass what it says it spoils makes every test of an outage worthless. */
export const faultProxyMutants: readonly Mutant[] = [
  {
    file: 'rig/fault-proxy/http-faults.ts',
    find: "if (fault.ending === 'reset') await reset(request);",
    replace: '',
    tests: proxy('http-faults'),
  },
  {
    file: 'rig/fault-proxy/http-faults.ts',
    find: 'Math.min(bytes ?? whole.length >> 1, whole.length - 1)',
    replace: 'bytes ?? whole.length',
    tests: proxy('http-faults'),
  },
  {
    file: 'rig/fault-proxy/http-faults.ts',
    find: 'const length = Math.max(Number(promised), whole.length, 1);',
    replace: 'const length = whole.length >> 1;',
    tests: proxy('http-faults'),
  },
  {
    file: 'rig/fault-proxy/http-faults.ts',
    find: 'await clock.sleep((1000 * part.length) / rate);',
    replace: 'await clock.sleep(1000 / rate);',
    tests: proxy('http-faults'),
  },
  {
    file: 'rig/fault-proxy/http-faults.ts',
    find: "if (fault.fault === 'hang') return;",
    replace: "if (fault.fault === 'hang') return pass(exchange);",
    tests: proxy('http-faults'),
  },
  {
    file: 'rig/fault-proxy/http-faults.ts',
    find: 'while (!response.destroyed) await write(response, piece);',
    replace: 'await write(response, piece);\n  response.end();',
    tests: proxy('http-faults'),
  },
  {
    file: 'rig/fault-proxy/http-faults.ts',
    find: "response.writeHead(status, headers).end(Buffer.from(base64, 'base64'));",
    replace: "response.writeHead(status, headers).end(Buffer.from(base64, 'base64').toString());",
    tests: proxy('http-faults'),
  },
  {
    file: 'rig/fault-proxy/http-faults.ts',
    find: "...(isWatch ? ['content-length'] : [])",
    replace: '',
    tests: proxy('watch-events'),
  },
  {
    file: 'rig/fault-proxy/relay.ts',
    find: 'await delivered(pair);',
    replace: '',
    tests: proxy('http-faults'),
  },
  {
    file: 'rig/fault-proxy/relay.ts',
    find: 'const asPromptly = { allowHalfOpen: true, noDelay: true };',
    replace: 'const asPromptly = { allowHalfOpen: true };',
    tests: proxy('http-faults'),
  },
  {
    file: 'rig/fault-proxy/relay.ts',
    find: 'else if (pair.frozen && !stands) drop(pair);',
    replace: '',
    tests: proxy('relay'),
  },
  {
    file: 'rig/fault-proxy/relay.ts',
    find: 'if (pair.asked) onLost();',
    replace: '',
    tests: proxy('relay'),
  },
  {
    file: 'rig/fault-proxy/relay.ts',
    find: "pair.client.on('data', onLost).resume();",
    replace: 'pair.client.resume();',
    tests: proxy('relay'),
  },
  {
    file: 'rig/fault-proxy/relay.ts',
    find: "pair.frozen = rules.take(['black-hole'], {}) !== undefined;",
    replace: '',
    tests: proxy('relay'),
  },
  {
    file: 'rig/fault-proxy/relay.ts',
    find: "if (rules.active('no-backend').length > 0) for (const pair of pairs) drop(pair);",
    replace: '',
    tests: proxy('relay'),
  },
  {
    file: 'rig/fault-proxy/relay.ts',
    find: 'pair.client.write(part, () => left < 0 && drop(pair));',
    replace: 'pair.client.write(part, () => left < 0 && pair.client.end());',
    tests: proxy('relay'),
  },
  {
    file: 'rig/fault-proxy/relay.ts',
    find: 'if (!pair.frozen) pair.server.write(piece);',
    replace: 'pair.server.write(piece);',
    tests: proxy('relay'),
  },
  {
    file: 'rig/fault-proxy/relay.ts',
    find: 'if (closed) return;',
    replace: '',
    tests: proxy('relay'),
  },
  {
    file: 'rig/fault-proxy/rules.ts',
    find: "return 'times' in rule && rule.times !== undefined && met >= rule.times;",
    replace: "return 'times' in rule && rule.times !== undefined && met > rule.times;",
    tests: proxy('relay', 'http-faults'),
  },
  {
    file: 'rig/fault-proxy/rules.ts',
    find: 'if (standing.seen++ < rule.skip || this.#random() >= rule.chance) return false;',
    replace: 'if (this.#random() >= rule.chance) return false;',
    tests: proxy('http-faults'),
  },
  {
    file: 'rig/fault-proxy/rules.ts',
    find: 'if (standing.seen++ < rule.skip || this.#random() >= rule.chance) return false;',
    replace: 'if (standing.seen++ < rule.skip) return false;',
    tests: proxy('http-faults'),
  },
  {
    file: 'rig/fault-proxy/rules.ts',
    find: 'refuseUnmeetable(rule, this.#kind);',
    replace: '',
    tests: proxy('fault-proxy'),
  },
  {
    file: 'rig/fault-proxy/watch-events.ts',
    find: "if (action === 'swap' && held.length === 0) held = [line];",
    replace: "if (action === 'swap') held.push(line);",
    tests: proxy('watch-events'),
  },
  {
    file: 'rig/fault-proxy/watch-events.ts',
    find: "if (action === 'gone') return;",
    replace: '',
    tests: proxy('watch-events'),
  },
  {
    file: 'rig/fault-proxy/watch-events.ts',
    find: "if (action === 'delay') await clock.sleep(rule?.ms ?? 0);",
    replace: '',
    tests: proxy('watch-events'),
  },
  {
    file: 'rig/fault-proxy/watch-events.ts',
    find: "return event && event.type !== 'BOOKMARK' ? event.object.metadata?.resourceVersion : before;",
    replace: 'return event?.object.metadata?.resourceVersion ?? before;',
    tests: proxy('watch-events'),
  },
  {
    file: 'rig/fault-proxy/watch-events.ts',
    find: 'if (rest.length > 0) yield rest;',
    replace: '',
    tests: proxy('watch-events'),
  },
];
