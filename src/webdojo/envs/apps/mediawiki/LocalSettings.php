<?php
// Settings of MediaWiki for a visit: its database is in the working directory, and nothing but it is remembered.

$visit = getenv( 'WEBDOJO_VISIT' );
$shared = getenv( 'WEBDOJO_SHARED' );

$wgSitename = 'Wiki';
$wgServer = 'http://' . ( $_SERVER['HTTP_HOST'] ?? 'localhost' );
$wgScriptPath = '/w';
$wgResourceBasePath = '/w';
$wgArticlePath = '/wiki/$1';
$wgLanguageCode = 'en';
$wgLocaltimezone = 'UTC';
$wgLogos = false;
$wgFavicon = false;

$database = [ 'type' => 'sqlite', 'host' => '', 'user' => '', 'password' => '', 'tablePrefix' => '' ]
	+ [ 'variables' => [ 'synchronous' => 'OFF', 'journal_mode' => 'MEMORY' ], 'dbDirectory' => $visit ];
$wgDBtype = 'sqlite';
$wgDBname = 'wiki';
$wgSQLiteDataDir = $visit;
$wgDBservers = [ [ 'dbname' => 'wiki', 'dbFilePath' => "$visit/db.sqlite3", 'flags' => DBO_DEFAULT, 'load' => 1 ] + $database ];

// Sessions are in a database of their own, so that no page waits for itself.
$wgObjectCaches[CACHE_DB] = [
	'class' => SqlBagOStuff::class,
	'server' => [ 'dbname' => 'cache', 'trxMode' => 'IMMEDIATE', 'flags' => 0 ] + $database,
];
$wgMainCacheType = CACHE_NONE;
$wgMessageCacheType = CACHE_NONE;
$wgParserCacheType = CACHE_NONE;
$wgSessionCacheType = CACHE_DB;
$wgMainStash = CACHE_DB;
$wgCacheDirectory = $shared;
$wgLocalisationCacheConf['store'] = 'array';
$wgLocalisationCacheConf['manualRecache'] = true;
$wgJobTypeConf['default'] = [ 'class' => 'JobQueueMemory' ];
$wgJobRunRate = 0;
$wgDisableOutputCompression = true;
$wgInvalidateCacheOnLocalSettingsChange = false;

// Nothing goes out: no mail, no uploads, no hooks of others. What load.php gives depends on its address alone.
$wgEnableEmail = false;
$wgEnableUploads = false;
$wgPingback = false;
$wgAllowExternalImages = false;
$wgUseDatabaseMessages = false;
$wgUseSiteCss = false;
$wgUseSiteJs = false;

// Who is logged in stays so; only those with an account edit.
$wgSecretKey = 'not secret: the wiki is reached from its own machine alone';
$wgPasswordDefault = 'B';
$wgRememberMe = 'always';
$wgExtendedLoginCookieExpiration = 10 * 365 * 24 * 3600;
$wgGroupPermissions['*']['edit'] = false;
$wgGroupPermissions['*']['createaccount'] = false;
$wgDefaultUserOptions['watchcreations'] = 0;
$wgDefaultUserOptions['watchdefault'] = 0;
$wgDefaultUserOptions['watchrollback'] = 0;
$wgDefaultUserOptions['date'] = 'dmy';
$wgRateLimits = [];
$wgDiff3 = '/usr/bin/diff3';

$wgDefaultSkin = 'vector';
wfLoadSkin( 'Vector' );
