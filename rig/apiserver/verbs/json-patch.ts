import * as z from 'zod';
import {
  isList,
  isObject,
  type Json,
  type JsonObject,
  sameJson,
  without,
} from '../objects/json.ts';
import { badRequest, StatusError } from '../objects/status-error.ts';

const pointer = z.string().regex(/^(\/|$)/);
const operation = z.discriminatedUnion('op', [
  z.object({ op: z.literal('add'), path: pointer, value: z.json() }),
  z.object({ op: z.literal('replace'), path: pointer, value: z.json() }),
  z.object({ op: z.literal('test'), path: pointer, value: z.json() }),
  z.object({ op: z.literal('remove'), path: pointer }),
  z.object({ op: z.literal('move'), path: pointer, from: pointer }),
  z.object({ op: z.literal('copy'), path: pointer, from: pointer }),
]);
const operations = z.array(operation);
type Operation = z.infer<typeof operation>;

/** Applies a JSON patch (RFC 6902); throws 400 for a body that is none, 422 for a patch that does not fit the object. */
export function jsonPatch(target: Json, patch: unknown): Json {
  const parsed = operations.safeParse(patch);
  if (!parsed.success) throw badRequest('the request body is not a JSON patch');
  return parsed.data.reduce(applied, target);
}

function applied(target: Json, step: Operation): Json {
  const path = stepsOf(step.path);
  if (step.op === 'add') return changed(target, path, added(step.value));
  if (step.op === 'replace') return changed(target, path, replaced(step.value));
  if (step.op === 'remove') return changed(target, path, removed);
  if (step.op === 'test') {
    if (!sameJson(valueAt(target, path), step.value)) throw refused();
    return target;
  }
  const from = stepsOf(step.from);
  const rest = step.op === 'move' ? changed(target, from, removed) : target;
  return changed(rest, path, added(valueAt(target, from)));
}

/** The message of the real server names neither operation nor path. */
function refused(): StatusError {
  const message = 'the server rejected our request due to an error in our request';
  return new StatusError(422, 'Invalid', message);
}

function stepsOf(path: string): readonly string[] {
  const [, ...steps] = path.split('/');
  return steps.map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function valueAt(target: Json, path: readonly string[]): Json {
  return path.reduce(memberOf, target);
}

function memberOf(parent: Json, step: string): Json {
  const member = isList(parent)
    ? parent[indexOf(step)]
    : isObject(parent) && Object.hasOwn(parent, step)
      ? parent[step]
      : undefined;
  if (member === undefined) throw refused();
  return member;
}

/** Changes the last step of a path in its parent. */
type Change = (parent: Json, step: string) => Json;

function changed(target: Json, [step, ...rest]: readonly string[], change: Change): Json {
  // The path of the whole document: an object of Kubernetes has identity and cannot be replaced.
  if (step === undefined) throw refused();
  if (rest.length === 0) return change(target, step);
  return replaced(changed(memberOf(target, step), rest, change))(target, step);
}

function added(value: Json): Change {
  return (parent, step) => {
    if (isObject(parent)) return { ...parent, [step]: value };
    if (!isList(parent)) throw refused();
    const index = step === '-' ? parent.length : indexOf(step);
    if (index > parent.length) throw refused();
    return parent.toSpliced(index, 0, value);
  };
}

/** The API server adds a missing member of an object, although RFC 6902 requires it. */
function replaced(value: Json): Change {
  return (parent, step) => {
    if (isObject(parent)) return { ...parent, [step]: value };
    memberOf(parent, step);
    return (parent as readonly Json[]).with(indexOf(step), value);
  };
}

const removed: Change = (parent, step) => {
  memberOf(parent, step);
  if (isList(parent)) return parent.toSpliced(indexOf(step), 1);
  return without(parent as JsonObject, step);
};

function indexOf(step: string): number {
  if (!/^(0|[1-9]\d*)$/.test(step)) throw refused();
  return Number(step);
}
