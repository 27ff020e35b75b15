import type { Mutant } from '../mutant.ts';

const room = 'src/operator';

/** A mutant that tests of the operator have to notice. */
function mutant(file: string, find: string, replace: string, ...tests: string[]): Mutant {
  const files = tests.map((test) => `${room}/${test}.test.ts`);
  return { file: `${room}/${file}.ts`, find, replace, tests: ['unit', ...files] };
}

export const operatorMutants: readonly Mutant[] = [
  {
    file: `${room}/deliver/violas.ts`,
    find: 'if (known && known.ca === ca) return known.caller;',
    replace: 'if (known) return known.caller;',
    tests: ['unit', 'test/contract/http/viola-tls.test.ts'],
  },
  {
    file: 'src/requests/ca-bundle.ts',
    find: 'held = now;',
    replace: '',
    tests: ['unit', 'src/requests/ca-bundle.test.ts'],
  },
  {
    file: 'src/requests/ca-bundle.ts',
    find: 'cutShort || !certificates.every(isReadable)',
    replace: '!certificates.every(isReadable)',
    tests: ['unit', 'src/requests/ca-bundle.test.ts'],
  },
  mutant(
    'status/writer',
    'synced?.evidenceComplete && synced.delivery.failures.length === 0',
    'synced?.evidenceComplete',
    'many-removals',
  ),
  mutant(
    'status/writer',
    'written.set(keyOf(object), { uid, resourceVersion, status: after.status });',
    '',
    'status/writer',
  ),
  mutant(
    'deliver/delivery-rounds',
    "isHeld ? { ...input, removals: 'held' } : input",
    'isHeld ? input : input',
    'many-removals',
  ),
  mutant(
    'deliver/viola-answer',
    "answer.status === 404 && codeIn(answer) === 'NoSuchNode'",
    'answer.status === 404',
    'deliver/viola-client',
  ),
  mutant(
    'deliver/violas',
    'const lane = `${endpoint} ${providerId}`;',
    'const lane = endpoint;',
    'deliver/violas',
  ),
  mutant(
    'deletion/withdraw',
    'new Map([...named, ...(recorded ?? [])])',
    'new Map([...(recorded ?? [])])',
    'deletion/leave',
  ),
  mutant('deletion/leave', 'nodes.length === 0 && !occupied.complete', 'false', 'deletion/leave'),
  mutant('deletion/leave', 'if (denied) throw new StepFailure(denied);', '', 'deletion/leave'),
  mutant(
    'deletion/withdraw',
    'unreadable.filter((node) => mayBeOwn(node, owner))',
    '[]',
    'deliver/delivery-rounds',
  ),
  mutant(
    'deletion/withdraw',
    'unreadable.filter((node) => mayBeOwn(node, owner))',
    'unreadable',
    'deliver/delivery-rounds',
  ),
  mutant(
    'access',
    "refuseDenied('Contrabass names Nova', provider.novaUrl, allowed);",
    '',
    'access',
  ),
  mutant('start', "leads ? undefined : 'another", "true ? undefined : 'another", 'start'),
  mutant('inventory', 'if (pause && clock.monotonicMs() < pause.until)', 'if (false)', 'inventory'),
  mutant('inventory', 'unforgotten.set(keyOf(author), author);', '', 'inventory'),
  mutant('sync-request', 'isSeen(object) && isNew(', 'isNew(', 'many-removals'),
  mutant('status/writer', 'complete || !isSeen(object) ?', 'complete ?', 'many-removals'),
  mutant(
    'deliver/deliver',
    'options.onUnanswered();\n    const failure',
    'const failure',
    'deletion/unanswered-posts',
  ),
  mutant('inventory', "deliveredFor(node) ?? ''", "spec.instanceId ?? ''", 'names'),
  mutant(
    'deliver/unanswered-posts',
    'if (!this.#failedAt.has(key)) ',
    '',
    'deletion/unanswered-posts',
  ),
  mutant('deliver/deliver', 'answer.errors.some(isOpen)', 'false', 'deletion/unanswered-posts'),
  mutant(
    'deliver/unanswered-posts',
    'this.#failedAt.get(key) ?? this.#ledSince',
    'this.#failedAt.get(key) ?? Number.NEGATIVE_INFINITY',
    'deletion/unanswered-posts',
  ),
  mutant(
    'deletion/withdraw',
    'left.length === 0 && !isOpen',
    'left.length === 0',
    'deletion/leave',
  ),
  mutant(
    'inventory',
    'recorded ?? serverIds.flatMap((id) => delivered.get(id.toLowerCase()) ?? [])',
    'recorded ?? []',
    'names',
  ),
  mutant(
    'inventory',
    'if (error instanceof DatabaseFailure) return undefined;',
    'return undefined;',
    'inventory',
  ),
  mutant('lanes', 'const perLane = 4;', 'const perLane = 400;', 'lanes'),
  mutant(
    'pace',
    'Math.min(state.retryAfterMs ?? 0, longestErrorMs)',
    'state.retryAfterMs ?? 0',
    'reconcile',
  ),
  mutant(
    'deliver/deliver',
    "failure.kind === 'tooLarge' && chunk.length > 1",
    'false',
    'deliver/deliver',
  ),
  mutant('prove', 'others.every(', 'others.some(', 'prove'),
  mutant(
    'prove',
    'return ports.find(({ deviceId }) => deviceId === serverId);',
    'return ports[0];',
    'prove',
  ),
  mutant(
    'observe/cloud-view',
    'if (projectId === cloud.projectId) this.#seen.add(id);',
    'this.#seen.add(id);',
    'prove',
  ),
  mutant(
    'observe/cloud-view',
    'entries.toSorted((a, b) => a.at - b.at)',
    'entries',
    'observe/port-directory',
  ),
  mutant('access', 'contrabass.trusted ? [] : settings.allowedEndpoints', '[]', 'access'),
  mutant('deliver/deliver', "code === 'ClusterUnreachable'", 'false', 'deliver/deliver'),
  mutant(
    'deliver/deliver',
    "'timeout', 'unreachable', 'rateLimited'",
    "'timeout', 'unreachable'",
    'deliver/deliver',
  ),
  mutant(
    'deliver/delivery-rounds',
    'other.instanceId?.toLowerCase() === instanceId',
    'false',
    'deliver/delivery-rounds',
  ),
  mutant(
    'deletion/withdraw',
    'if (!node || !isOwn(node, owner)) return;',
    'if (!node) return;',
    'deletion/leave',
  ),
  mutant('sync-request', '.filter((companion) => companion !== key)', '', 'unkind-cloud'),
  mutant('sync-request', 'maxAgeMs: force ? 0 :', 'maxAgeMs: force ? 5_000 :', 'reconcile'),
  mutant('reconcile', 'if (isLive && isPaused(object))', 'if (isPaused(object))', 'reconcile'),
  mutant(
    'reconcile',
    'proven.evidenceComplete && input.selection.subnetsComplete',
    'proven.evidenceComplete',
    'unkind-cloud',
  ),
  mutant(
    'openstack-config',
    '(readableStatus.safeParse(status).data ?? {})',
    '{}',
    'openstack-config',
  ),
  mutant('start', 'aroundWrites(leaseClient,', 'aroundWrites(client,', 'start'),
  mutant(
    'deletion/withdraw',
    'fresh: true, source: owner',
    'fresh: false, source: owner',
    'deletion/leave',
  ),
  mutant('deletion/leave', 'own === undefined ? [] : [own]', '[]', 'deletion/leave'),
  mutant('pace', 'changed || waiting || downPorts', 'changed || downPorts', 'pace'),
  mutant('reconcile', "action !== 'none' || base !== null", "action !== 'none'", 'sync'),
  mutant('inventory', 'held.filter((node) => isOwn(node, owner))', 'held', 'sync'),
  mutant('prove', "plugged === false ? 'portGone'", "plugged !== true ? 'portGone'", 'prove'),
  mutant('prove', 'asked.length === questions.length', 'true', 'prove', 'sync', 'unkind-cloud'),
];
