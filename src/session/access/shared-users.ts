import { readFileSync } from 'node:fs';
import { delimiter } from 'node:path';
import { parseDocument } from 'yaml';
import * as z from 'zod';

const contextSchema = z.object({ context: z.object({ cluster: z.string(), user: z.string() }) });
const fileSchema = z.object({
  contexts: z.array(contextSchema).nullish(),
  users: z.array(z.object({ name: z.string() })).nullish(),
});

/**
 * Returns the user names that a kubeconfig path uses for several clusters, or defines in several files: kubectl keeps
 * only the first user with a name.
 */
export function sharedUsers(path: string): string[] {
  const files = path.split(delimiter).flatMap((each) => contentOf(each) ?? []);
  const defined = files.flatMap(({ users }) => (users ?? []).map(({ name }) => name));
  const clustersByUser = Map.groupBy(
    files.flatMap(({ contexts }) => (contexts ?? []).map(({ context }) => context)),
    ({ user }) => user,
  );
  return [...new Set(defined)].filter((user) => {
    const clusters = (clustersByUser.get(user) ?? []).map(({ cluster }) => cluster);
    const definitions = defined.filter((name) => name === user);
    return new Set(clusters).size > 1 || definitions.length > 1;
  });
}

/** Returns a kubeconfig's names; undefined: unreadable. */
function contentOf(path: string): z.infer<typeof fileSchema> | undefined {
  try {
    return fileSchema.parse(parseDocument(readFileSync(path, 'utf8')).toJS());
  } catch {
    return undefined; // The 401 stays the cause.
  }
}
