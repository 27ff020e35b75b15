import * as z from 'zod';

/** One finished request as the API server recorded it (audit.k8s.io/v1, level Metadata). */
export interface AuditEntry {
  readonly verb: string;
  /** Empty when the server knew nobody (401): a token that is bound to a Pod ends with the Pod, before its process does. */
  readonly user: string;
  readonly userAgent: string;
  readonly code: number;
  readonly at: string;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Nothing came of it. */
  readonly dryRun: boolean;
}

const event = z.object({
  stage: z.string(),
  verb: z.string(),
  user: z.object({ username: z.string().default('') }).prefault({}),
  userAgent: z.string().default(''),
  responseStatus: z.object({ code: z.number() }).optional(),
  requestReceivedTimestamp: z.string(),
  requestURI: z.string().default(''),
  objectRef: z
    .object({
      apiGroup: z.string().default(''),
      resource: z.string().default(''),
      subresource: z.string().default(''),
      namespace: z.string().default(''),
      name: z.string().default(''),
    })
    .prefault({}),
});

/** Entries of an audit log, oldest first; requests that are still running (watches) are left out. */
export function parseAuditLog(text: string): readonly AuditEntry[] {
  // The API server may be writing the last line right now.
  const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
  return lines
    .filter((line) => line !== '')
    .map((line) => event.parse(JSON.parse(line)))
    .filter(({ stage }) => stage === 'ResponseComplete')
    .map(
      ({
        verb,
        user,
        userAgent,
        responseStatus,
        requestReceivedTimestamp,
        requestURI,
        objectRef,
      }) => ({
        verb,
        user: user.username,
        userAgent,
        code: responseStatus?.code ?? 0,
        at: requestReceivedTimestamp,
        group: objectRef.apiGroup,
        resource: objectRef.resource,
        subresource: objectRef.subresource,
        namespace: objectRef.namespace,
        name: objectRef.name,
        dryRun: /[?&]dryRun=All/.test(requestURI),
      }),
    );
}
