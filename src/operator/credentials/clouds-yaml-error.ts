/** Says what is wrong with a `clouds.yaml`, by field and never by value: values are secrets. */
export class CloudsYamlError extends Error {
  override readonly name = 'CloudsYamlError';
}
