import type { Problem } from '../../model/accepted.ts';
import { unusable } from './checked.ts';

const host = String.raw`(?:[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?|\[[0-9a-fA-F:]+\])(?::\d{1,5})?`;
const part = '[a-z0-9]+(?:(?:[.]|_|__|-+)[a-z0-9]+)*';
/** Image reference as container runtimes parse it: host, path, tag, digest. */
const reference = new RegExp(
  `^(?:${host}/)?${part}(?:/${part})*(?::\\w[\\w.-]{0,127})?(?:@[a-z0-9]+:[0-9a-f]{32,128})?$`,
);

/** Returns problems in an image reference. */
export function imageProblems(field: string, image: string | undefined): Problem[] {
  if (image === undefined) return [];
  if (image.trim() === '') {
    return [unusable(field, image, 'is blank; set an image, or leave it out')];
  }
  if (image.length <= 512 && reference.test(image)) return [];
  return [unusable(field, image, 'is not an image reference; write it as host/path:tag')];
}
