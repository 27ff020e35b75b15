import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { annotations } from '../names.ts';
import { crdDefinitions } from './definition.ts';
import { type DefinitionName, schemaNumbers } from './schema-numbers.ts';

/**
 * Schema hashes, oldest first. Raise the number and append a line when a schema changes; never edit existing lines,
 * because installations use these schemas.
 */
const history: Readonly<Record<DefinitionName, readonly string[]>> = {
  'openstackconfigs.multinic.example.com': [
    '6eeecdff7b49cc8bb5eca8b46c8561ce66cb5bf44e29f40bfec410f9a3b89543',
    'd5a655d1a6e068294d0a8710e0791573da02c50db989ac5ff992900a90173874',
    '22508d61ff93fe9293d4854499fa72e2cb7daa22394bcc3244639957a4e23d77',
    '32f402394e4c05f69d088ca70391b43d8f21ca2e50a1814aa3944eff83d929d6',
    '79e68bd512ebf4c3438de0af8e3c3fffdb6a0ff106bae490dfa4a58fd922cbb6',
    '7fce6e6f02fdb821190219bcb5473dac0c210c44ebb78c1b7023846a48790334',
    '83a94409434de268a1517f5864fe138f04a17318e071760cbf73ce191b2a98e8',
    'cf3ffed167e09c38997004ad5b5975fe2763d5ce74adce7b10331ea0cdf7d178',
    '7e0eadc3b196114fd130f48f04278de685ea2702a219fcb805a070089eb85372',
    '80bb8cf1f1a8eb3987aa0da5f5eab09adaaeb898d0ae15fffb9b970b5b7b3595',
  ],
  'multinicnodeconfigs.multinic.io': [
    'c39af9cf08136ff46ff255049158213282fdbd7c14b71442f9124066e4621fcc',
    'f53046b4fa970a1568a5c73bde1b4d44624324f62fcee89ff309038d5f5a69e8',
    '032a589da17403cd6c9f175f9d147ff382445f065173f01046dae84652d32b08',
    'af03377e2c6a0e9d6a3996734b8bdd5e6b67feaa96da5e3e11257586dd134a73',
    'fcadb9d9f94c9c0da70d06f8c751f4d9ba15f382598774bfcde38a8d0314f9ab',
    '6dca11999fd4b92ce6bff80c368c69b95e96f78cdce570c66bcb8ddcf42b49a0',
    '375292cfc342e73c32c446d4a566805794479ca397fea1566315f2fd6972c2bc',
    '522caf1533d8e681dc7093ec7cb2d8fdf15a389b0a83f39f59eca2470108938b',
    '0dab1f8859415da8aab9b366d802a76f841e1df2ea3a3f53ed29fd5e4c96d7a3',
    '60b832edf8bbf4b499a14ed7aab7e820c3901e5b65a1b76aacfca1a2ee83bd62',
    '3f7fcbff326466735cdfdaed86a8baf8a65dca1cbdcb2ea9fca8a7de1e33cee5',
    '985f99a52dab1009d29622b65e80b26a309dea1c17709df216847bb7e6b3237f',
    '9e13134961fdd8acc77ac0cf4f13104610ac76da71ee63c162cf6cbf32a5a4be',
    'be76c363a224c3a32840aa9d36499aca5eefa039b80aca4c7f972db8e56885ae',
    '872c7f38345ff65881dfe6391c83daa75815ac2b17dc360871572544d1c9a3d1',
    '9a7feca33d9d22be250482f0ebe1a99f04098ff8a1854c2c90a577e9e3d0b1c5',
    'd730494578ed80f146e835aa36008225f3304aabd440276e041c6932d7d8bfef',
  ],
  'multinicoperators.multinic.example.com': [
    '76d900951b0b115b037945ee70b4dfb0464b53bdf4596a91874121f606c81044',
    '5f0bb9fca518fb63f0d6cde4e308cf5bb858adcf61c283069724064fb064958d',
  ],
  'multinicbizconfigs.multinic.io': [
    'ec73c299055240348b0b7480ce5995e5eee43f2a77c3ecf4b98c091382715dcb',
    'dbba86c238682b66a3e9a89128484db68ff7e62344b57ac6c07ec7ccceee5507',
    '4a145d75dbd0ec4ad403b3778abea89e03f1c3cc8a15cca2fa7e21743b857fed',
  ],
  'multinicbizconfigs.multinic.okestro.io': [
    'ec73c299055240348b0b7480ce5995e5eee43f2a77c3ecf4b98c091382715dcb',
    'dbba86c238682b66a3e9a89128484db68ff7e62344b57ac6c07ec7ccceee5507',
    '4a145d75dbd0ec4ad403b3778abea89e03f1c3cc8a15cca2fa7e21743b857fed',
  ],
};

/** Hashes the parts that decide which fields and values are kept; descriptions do not count. */
function hashOf(schema: unknown): string {
  const text = JSON.stringify(schema, (key, value: unknown) =>
    key === 'description' && typeof value === 'string' ? undefined : value,
  );
  return createHash('sha256').update(text).digest('hex');
}

it.each(Object.values(crdDefinitions()))(
  'the number of $metadata.name is that of its schema',
  ({ metadata, spec }) => {
    const name = metadata.name;
    const number = schemaNumbers[name];
    const schemas = new Set(spec.versions.map(({ schema }) => hashOf(schema)));
    expect([...schemas], 'all versions have one schema').toHaveLength(1);
    const how = `the schema of ${name} changed: raise its number and add a line to the history`;
    expect([number, ...schemas], how).toEqual([history[name].length, history[name].at(-1)]);
    expect(metadata.annotations).toEqual({ [annotations.schema]: String(number) });
  },
);
