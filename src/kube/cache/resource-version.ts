/**
 * Whether a version is newer than another. Resource versions of everything kept in etcd are its revision, a decimal
 * number that may be compared (documented since Kubernetes 1.35, KEP-5504); of anything else we only see "different".
 */
export function isNewer(version: string | undefined, than: string | undefined): boolean {
  if (version === undefined || than === undefined) return true;
  if (!isDecimal(version) || !isDecimal(than)) return version !== than;
  return version.length === than.length ? version > than : version.length > than.length;
}

/** Whether a version is certainly older than another. */
export function isOlder(version: string, than: string): boolean {
  return isDecimal(version) && isDecimal(than) && isNewer(than, version);
}

function isDecimal(version: string): boolean {
  return /^[1-9]\d*$/.test(version);
}
