/** Problem in a `clouds.yaml`. The message names fields, never values, because values are secrets. */
export class CloudsYamlError extends Error {
  override readonly name = 'CloudsYamlError';
}
