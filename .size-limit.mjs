/** SPEC PE-5: the root entry's own code, minified and brotlied. Dependencies stay outside: users share them. */
export default [
  {
    name: 'holdfast (own code)',
    path: 'dist/index.js',
    limit: '60 kB',
    modifyEsbuildConfig: (config) => ({ ...config, packages: 'external', platform: 'node', format: 'esm' }),
  },
];
