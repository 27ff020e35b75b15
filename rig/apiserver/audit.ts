import type { User } from './http/authentication.ts';
import { authorizedIn, type ResourceRequest, type Verb } from './http/request-info.ts';

/** One answered request, in the words of Kubernetes' audit log. */
export interface AuditEntry {
  readonly verb: Verb;
  readonly group: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
  readonly user: string;
  readonly status: number;
}

/** Requests kept; older ones are forgotten. */
const maxEntries = 100_000;

/** The requests that were answered, oldest first. */
export class AuditLog {
  readonly entries: AuditEntry[] = [];

  record(request: ResourceRequest, user: User, status: number): void {
    const { verb, type, subresource, name } = request;
    const namespace = authorizedIn(request);
    this.entries.push({
      verb,
      group: type.group,
      resource: type.plural,
      ...(subresource === undefined ? {} : { subresource }),
      ...(namespace === undefined ? {} : { namespace }),
      ...(name === undefined ? {} : { name }),
      user: user.name,
      status,
    });
    if (this.entries.length > maxEntries) this.entries.shift();
  }
}
