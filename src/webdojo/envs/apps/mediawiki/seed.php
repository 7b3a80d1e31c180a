<?php
// Writes a world, which it reads as JSON, into the wiki: its people, and every edit at its time as an import does.

require_once getenv( 'MW_INSTALL_PATH' ) . '/maintenance/Maintenance.php';

use MediaWiki\MediaWikiServices;
use MediaWiki\Revision\SlotRecord;

class Seed extends Maintenance {
	public function execute() {
		$world = json_decode( stream_get_contents( STDIN ), true );
		$services = MediaWikiServices::getInstance();
		foreach ( $world['people'] as $person ) {
			$user = User::createNew( $person['name'], [ 'token' => $person['token'] ] );
			$this->same( $person['id'], $user->getId(), $person['name'] );
			$users[$person['name']] = $user;
			if ( $person['id'] <= 2 ) {
				$password = $services->getPasswordFactory()->newFromPlaintext( $world['password'] )->toString();
				$this->getDB( DB_PRIMARY )->update(
					'user', [ 'user_password' => $password ], [ 'user_id' => $user->getId() ], __METHOD__
				);
			}
		}
		$admin = User::newFromId( 1 );
		foreach ( [ 'sysop', 'bureaucrat' ] as $group ) {
			$services->getUserGroupManager()->addUserToGroup( $admin, $group );
		}
		foreach ( $world['pages'] as $page ) {
			$title = Title::newFromText( $page['title'] );
			foreach ( $page['edits'] as $number => $edit ) {
				$revision = new WikiRevision( $services->getMainConfig() );
				$revision->setTitle( $title );
				$revision->setContent( SlotRecord::MAIN, new WikitextContent( $edit['text'] ) );
				$revision->setUsername( $edit['user'] );
				$revision->setUserObj( $users[$edit['user']] );
				$revision->setTimestamp( $edit['time'] );
				$revision->setComment( $edit['summary'] );
				$importer = $number === count( $page['edits'] ) - 1
					? $services->getWikiRevisionOldRevisionImporter()
					: $services->getWikiRevisionOldRevisionImporterNoUpdates();
				$importer->import( $revision );
			}
			$this->same( $page['id'], $title->getArticleID( Title::READ_LATEST ), $page['title'] );
			DeferredUpdates::doUpdates();
		}
		foreach ( $world['watched'] as $id ) {
			$services->getWatchlistManager()->addWatchIgnoringRights( User::newFromId( 2 ), Title::newFromID( $id ) );
		}
		DeferredUpdates::doUpdates();
		SiteStatsInit::doAllAndCommit( $this->getDB( DB_PRIMARY ) );
	}

	private function same( $wanted, $id, $name ) {
		if ( $wanted !== $id ) {
			$this->fatalError( "$name has the id $id, not $wanted" );
		}
	}
}

$maintClass = Seed::class;
require_once RUN_MAINTENANCE_IF_MAIN;
