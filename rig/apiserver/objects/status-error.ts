import { defined, type JsonObject } from './json.ts';

/** One entry of `details.causes`: which field, what is wrong with it. */
export interface Cause extends JsonObject {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** What an error is about: the plural resource name, its group, the object's name. */
export interface Subject {
  readonly group: string;
  readonly plural: string;
  readonly kind: string;
}

interface Details {
  readonly subject?: Subject;
  readonly name?: string;
  readonly uid?: string;
  readonly causes?: readonly Cause[];
  readonly retryAfterSeconds?: number;
  readonly continueToken?: string;
}

/** A refusal in the API server's own words: becomes the `Status` body of the answer. */
export class StatusError extends Error {
  readonly code: number;
  readonly reason: string;
  readonly details: Details;

  constructor(code: number, reason: string, message: string, details: Details = {}) {
    super(message);
    this.name = 'StatusError';
    this.code = code;
    this.reason = reason;
    this.details = details;
  }

  /** The `Status` object as it goes over the wire. */
  body(): JsonObject {
    const details = this.#details();
    return defined({
      kind: 'Status',
      apiVersion: 'v1',
      metadata: defined({ continue: this.details.continueToken }),
      status: 'Failure',
      message: this.message,
      reason: this.reason || undefined,
      details: Object.keys(details).length > 0 ? details : undefined,
      code: this.code,
    });
  }

  #details(): JsonObject {
    const { subject, name, uid, causes, retryAfterSeconds } = this.details;
    return defined({
      name: name || undefined,
      group: subject?.group || undefined,
      kind: this.reason === 'Invalid' ? subject?.kind : subject?.plural,
      uid,
      causes,
      retryAfterSeconds,
    });
  }
}

/** "multinicnodeconfigs.multinic.io", or "pods" of the core group. */
export function qualified(subject: Subject): string {
  return subject.group ? `${subject.plural}.${subject.group}` : subject.plural;
}

export function notFound(subject: Subject, name: string): StatusError {
  const message = `${qualified(subject)} "${name}" not found`;
  return new StatusError(404, 'NotFound', message, { subject, name });
}

export function alreadyExists(subject: Subject, name: string): StatusError {
  const message = `${qualified(subject)} "${name}" already exists`;
  return new StatusError(409, 'AlreadyExists', message, { subject, name });
}

export function conflict(subject: Subject, name: string, why: string): StatusError {
  const message = `Operation cannot be fulfilled on ${qualified(subject)} "${name}": ${why}`;
  return new StatusError(409, 'Conflict', message, { subject, name });
}

/** The refusal of an update that was computed from an older state. */
export function modified(subject: Subject, name: string): StatusError {
  const why =
    'the object has been modified; please apply your changes to the latest version and try again';
  return conflict(subject, name, why);
}

export function invalid(subject: Subject, name: string, causes: readonly Cause[]): StatusError {
  const lines = causes.map((cause) => `${cause.field}: ${cause.message}`);
  const text = lines.length === 1 ? (lines[0] ?? '') : `[${lines.join(', ')}]`;
  const kind = subject.group ? `${subject.kind}.${subject.group}` : subject.kind;
  const message = `${kind} "${name}" is invalid: ${text}`;
  return new StatusError(422, 'Invalid', message, { subject, name, causes });
}

export function badRequest(message: string): StatusError {
  return new StatusError(400, 'BadRequest', message);
}

export function forbidden(subject: Subject, name: string, why: string): StatusError {
  const what = name ? `${qualified(subject)} "${name}"` : qualified(subject);
  return new StatusError(403, 'Forbidden', `${what} is forbidden: ${why}`, { subject, name });
}

export function expired(message: string, continueToken?: string): StatusError {
  return new StatusError(410, 'Expired', message, continueToken ? { continueToken } : {});
}

export function methodNotAllowed(): StatusError {
  const message = 'the server does not allow this method on the requested resource';
  return new StatusError(405, 'MethodNotAllowed', message);
}

export function unsupportedMediaType(accepted: readonly string[]): StatusError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`;
  return new StatusError(415, 'UnsupportedMediaType', message);
}

/** A refusal that is not the caller's fault and names no reason, as an unclassified Go error does. */
export function unclassified(message: string): StatusError {
  return new StatusError(500, '', message);
}
