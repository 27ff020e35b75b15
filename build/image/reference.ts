// Image names as registries accept them; see https://github.com/distribution/reference.
const host = /[A-Za-z0-9][A-Za-z0-9.-]*(?::\d+)?/.source;
const part = /[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*/.source;
const repository = new RegExp(`^(?:${host}/)?${part}(?:/${part})*$`);
const prefix = new RegExp(`^${host}(?:/${part})*$`);

/** Whether this is the name of images without tag: `registry.example.com:5000/team/multinic`. */
export function isRepository(text: string): boolean {
  return repository.test(text);
}

/** Returns the prefix for image names, such as `registry.example.com:5000/team`; throws if no registry accepts the prefix. */
export function prefixIn(text: string): string {
  if (prefix.test(text)) return text;
  throw new Error(
    `--repository "${text}" must be REGISTRY[:PORT][/PATH], PATH in small letters, without a slash at its end`,
  );
}
