import type { Release } from '../../build/image/debian.ts';

export type Series = '10.11' | '11.8';

interface Contents {
  readonly release: Release;
  readonly packages: readonly string[];
}

const libraries = [
  'libc6',
  'libcap2',
  'libcrypt1',
  'libgcc-s1',
  'libgcrypt20',
  'libgpg-error0',
  'libedit2',
  'libbsd0',
  'libmd0',
  'liblz4-1',
  'liblzma5',
  'libmariadb3',
  'libncurses6',
  'libtinfo6',
  'libnuma1',
  'libpcre2-8-0',
  'libstdc++6',
  'libsystemd0',
  'liburing2',
  'libzstd1',
  'zlib1g',
] as const;

const programs = [
  'busybox-static',
  'mariadb-client',
  'mariadb-client-core',
  'mariadb-common',
  'mariadb-server-core',
  'util-linux',
] as const;

/** Debian packages of the image, by series of MariaDB; Debian 13 renamed the libraries that hold a time. */
export const contents: Readonly<Record<Series, Contents>> = {
  '10.11': {
    release: 'bookworm',
    packages: [...programs, ...libraries, 'libaio1', 'libssl3'],
  },
  '11.8': {
    release: 'trixie',
    packages: [...programs, ...libraries, 'libaio1t64', 'libssl3t64'],
  },
};

/** The only files of packages whose other programs need Perl or more libraries. */
export const onlyFiles: Readonly<Record<string, readonly string[]>> = {
  'mariadb-client': [
    'usr/bin/mariadb-admin',
    'usr/bin/mariadb-dump',
    'usr/bin/mysqladmin',
    'usr/bin/mysqldump',
  ],
  'util-linux': ['usr/bin/flock'],
};

/** Programs that busybox stands in for. */
export const shellPrograms = [
  'basename',
  'cat',
  'chmod',
  'chown',
  'cut',
  'date',
  'dd',
  'df',
  'dirname',
  'echo',
  'env',
  'expr',
  'false',
  'find',
  'grep',
  'head',
  'hostname',
  'id',
  'kill',
  'ln',
  'ls',
  'mkdir',
  'mktemp',
  'mv',
  'printf',
  'ps',
  'rm',
  'sed',
  'sh',
  'sleep',
  'sort',
  'stat',
  'sync',
  'tail',
  'test',
  'touch',
  'tr',
  'true',
  'uniq',
  'wc',
] as const;

export const files: Readonly<Record<string, string>> = {
  'etc/passwd': 'root:x:0:0:root:/root:/bin/sh\nmysql:x:999:999:MariaDB:/var/lib/mysql:/bin/sh\n',
  'etc/group': 'root:x:0:\nmysql:x:999:\n',
  'etc/nsswitch.conf': 'passwd: files\ngroup: files\nhosts: files dns\n',
};
