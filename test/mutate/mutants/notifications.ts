import type { Mutant } from '../mutant.ts';

/** A mutant that tests of the notifications have to notice. */
function mutant(
  room: 'openstack' | 'operator',
  file: string,
  [find, replace]: readonly [string, string],
  test: string,
): Mutant {
  const folder = `src/${room}/notifications`;
  return {
    file: `${folder}/${file}.ts`,
    find,
    replace,
    tests: ['unit', `${folder}/${test}.test.ts`],
  };
}

/** Of the Secret that tells others of the broker. */
function ofSecret(file: string, find: string, replace: string): Mutant {
  const folder = 'src/operator/broker-secret';
  const test = file === 'content' ? 'broker-secret' : `broker-secret/${file}.test.ts`;
  return {
    file: `${folder}/${file}.ts`,
    find,
    replace,
    tests: ['unit', `src/operator/${test}`],
  };
}

export const notificationsMutants: readonly Mutant[] = [
  ofSecret('content', 'hosts.length === 0 || !username || !password', 'hosts.length === 0'),
  ofSecret('content', ".replace(/[.-]+$/, '')", ''),
  ofSecret('content', 'slice(0, 253)', 'slice(0, 254)'),
  ofSecret('content', '(owner) => owner.uid === uid', '(owner) => owner.name === name'),
  ofSecret('content', 'owner.kind === kind && ', ''),
  ofSecret('content', ' && owner.name === name', ''),
  ofSecret('content', '.every(([key', '.some(([key'),
  ofSecret('broker-secrets', '!found || !holds(found, wanted)', 'true'),
  ofSecret('broker-secrets', 'if (kept) this.#waiting.delete(kept);', ''),
  ofSecret('broker-secrets', "{ resourceVersion: '1' }", '{}'),
  ofSecret('broker-secrets', '{ uid: of, resourceVersion }', '{}'),
  ofSecret('broker-secrets', ' && kept.tended === digest(wanted)', ''),
  ofSecret('broker-secrets', 'isKept ? lookedAfterMs : triedAgainMs', 'lookedAfterMs'),
  ofSecret('broker-secrets', 'before?.owner.uid === owner.uid', 'before'),
  ofSecret('broker-secrets', 'if (kept.told === message) return false;', ''),
  ofSecret('broker-secrets', " && found.type === 'Opaque'", ''),
  ofSecret('broker-secrets', '!this.#options.isOn || ', ''),
  ofSecret('broker-secrets', 'this.#over.aborted || ', ''),
  ofSecret('broker-secrets', "    leading.addEventListener('abort', end, { once: true });\n", ''),
  mutant(
    'openstack',
    'amqp/frames',
    ['if (size + around > longestFrame) {', 'if (false) {'],
    'broker',
  ),
  mutant('openstack', 'amqp/frames', ['!== frameEnd', '=== -1'], 'broker'),
  mutant('openstack', 'amqp/incoming', ['begun.missing <= this.#longest', 'true'], 'broker'),
  mutant('openstack', 'amqp/incoming', ['size > longestAnnounced', 'false'], 'broker'),
  mutant('openstack', 'amqp/incoming', [' || piece.length > begun.missing', ''], 'broker'),
  mutant('openstack', 'amqp/session', ['this.tell(channel, say.ack(delivery.tag));', ''], 'broker'),
  mutant('openstack', 'amqp/session', ['this.#hasRead = false;', ''], 'broker'),
  mutant('openstack', 'amqp/methods', ['octet(0b1100)', 'octet(0b1000)'], 'broker'),
  mutant('openstack', 'amqp/session', ['this.#socket.writableNeedDrain', 'false'], 'broker'),
  mutant('openstack', 'connection', ['session.tell(0, say.close());', ''], 'broker'),
  mutant(
    'openstack',
    'connection',
    ['=> socket.destroy(), goodbyeMs', '=> 0, goodbyeMs'],
    'connection',
  ),
  mutant('openstack', 'subscription', ['    this.#refusals = 0;\n', ''], 'subscription'),
  mutant(
    'openstack',
    'subscription',
    [
      "if (why === 'refused') this.#refusals++;",
      "this.#refusals = why === 'refused' ? this.#refusals + 1 : 0;",
    ],
    'subscription',
  ),
  mutant('openstack', 'broker-failure', ['error instanceof RangeError', 'false'], 'broker'),
  mutant('openstack', 'broker-failure', ['|^UNSPECIFIED$', ''], 'broker-failure'),
  mutant('openstack', 'connection', ['if (misses === 4)', 'if (misses === 40)'], 'broker'),
  mutant('openstack', 'connection', ['      over.abort();\n', ''], 'broker'),
  mutant(
    'openstack',
    'connection',
    ["      signal.removeEventListener('abort', onAbort);\n", ''],
    'connection',
  ),
  mutant('openstack', 'connection', ['[codes.notFound, codes.accessRefused]', '[]'], 'broker'),
  mutant(
    'openstack',
    'connection',
    ['isTrusted ? {} : { lookup: lookupOutside() }', '{}'],
    'connection',
  ),
  mutant(
    'openstack',
    'broker-address',
    [' || !URL.canParse(`http://${host}:${port}`)', ''],
    'broker-address',
  ),
  mutant('operator', 'notifications', ['isOwnPlace(placeOf(address), settings)', 'true'], 'places'),
  mutant(
    'openstack',
    'subscription',
    ["  'forbidden',\n  'denied',", "  'forbidden',"],
    'subscription',
  ),
  mutant('openstack', 'envelope', ["!one.device_owner.startsWith('network:')", 'true'], 'envelope'),
  mutant('openstack', 'envelope', ["event.startsWith('port.create') ? [] :", ''], 'envelope'),
  mutant('openstack', 'envelope', ['.regex(/^2\\./)', ''], 'envelope'),
  mutant(
    'openstack',
    'subscription',
    ["why === 'refused' && this.#refusals > 1", 'false'],
    'subscription',
  ),
  mutant(
    'openstack',
    'subscription',
    ['exchanges.some((one) => !before.includes(one))', 'false'],
    'subscription',
  ),
  mutant('openstack', 'subscription', ['>= steadyMs', '>= 0'], 'subscription'),
  mutant('operator', 'pending-hints', ['> mostRemembered', '> 1e9'], 'pending-hints'),
  mutant(
    'operator',
    'pending-hints',
    ['const whole = this.#whole;', 'const whole = false;'],
    'pending-hints',
  ),
  mutant('operator', 'notifications', [' || shared.members.size > 0', ''], 'notifications'),
  mutant('operator', 'notifications', ['    shared.stop();\n', ''], 'notifications'),
  mutant(
    'operator',
    'notifications',
    ['[username, password, hosts, denied]', '[username, hosts, denied]'],
    'notifications',
  ),
  mutant('operator', 'notifications', ['this.#leading.aborted', 'false'], 'notifications'),
  mutant('operator', 'condition', ['nowMs - state.since >= toldAfterMs', 'true'], 'notifications'),
  mutant(
    'operator',
    'condition',
    ["hosts.some((host) => host.includes('@'))", "wrong.includes('@')"],
    'notifications',
  ),
  mutant('operator', 'connections', ['those.every(', 'those.some('], 'notifications'),
  mutant(
    'operator',
    'pending-hints',
    ['untilWide <= 0 ? this.#takeWide() : nothingWide', 'this.#takeWide()'],
    'pending-hints',
  ),
];
