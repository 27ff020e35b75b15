/**
 * Returns true if a version is newer. Objects in etcd have its revision as resourceVersion, a comparable decimal
 * number (documented since Kubernetes 1.35, KEP-5504); other versions can only be compared for equality.
 */
export function isNewer(version: string | undefined, than: string | undefined): boolean {
  if (version === undefined || than === undefined) return true;
  if (!isDecimal(version) || !isDecimal(than)) return version !== than;
  return version.length === than.length ? version > than : version.length > than.length;
}

/** Returns true if a version is certainly older. */
export function isOlder(version: string, than: string): boolean {
  return isDecimal(version) && isDecimal(than) && isNewer(than, version);
}

function isDecimal(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}
