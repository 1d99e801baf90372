/**
 * SPEC PE-5: the root entry's own code, minified and brotlied. Dependencies stay outside: users share them. So does what is
 * loaded on demand: the transports of the first server of each kind, the reader of the first plugin.
 */
const onDemand = ['*/http-routes.js', '*/stdio-routes.js', '*/plugin-config.js'];

export default [
  {
    name: 'holdfast (own code)',
    path: 'dist/index.js',
    limit: '60 kB',
    modifyEsbuildConfig: (config) => ({
      ...config,
      external: onDemand,
      packages: 'external',
      platform: 'node',
      format: 'esm',
    }),
  },
];
